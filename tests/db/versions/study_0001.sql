BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0001');
CREATE TABLE entry (
	number INTEGER NOT NULL, 
	action TEXT NOT NULL, 
	at_utc TEXT NOT NULL, 
	rater TEXT, 
	session_id TEXT, 
	position INTEGER, 
	item_id TEXT, 
	kind TEXT, 
	answer TEXT, 
	shown_utc TEXT, 
	first_action_ms INTEGER, 
	answer_ms INTEGER, 
	idle_ms INTEGER, 
	confidence INTEGER, 
	comment TEXT, 
	usefulness JSON, 
	viewer_state JSON, 
	software TEXT, 
	note TEXT, 
	previous TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	CONSTRAINT pk_entry PRIMARY KEY (number)
);
INSERT INTO "entry" VALUES(1,'order','2026-11-30T06:03:43.877Z','ann',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'ee','dd','0a81b736e0de0bf656f0f3ce0dc5940e4086c42c7f62d6aac19b3271c246f0e7');
INSERT INTO "entry" VALUES(2,'answer','2026-11-30T06:03:43.894Z','ann','se1',1,'i2','item','left',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'0a81b736e0de0bf656f0f3ce0dc5940e4086c42c7f62d6aac19b3271c246f0e7','54fbf18e7e124652ddd17e41cd56362f78ea2f7a407cf177542aa9931303ac5a');
CREATE TABLE head (
	one INTEGER NOT NULL, 
	entries INTEGER NOT NULL, 
	hash TEXT NOT NULL, 
	CONSTRAINT pk_head PRIMARY KEY (one), 
	CONSTRAINT ck_head_single CHECK (one = 1)
);
INSERT INTO "head" VALUES(1,2,'54fbf18e7e124652ddd17e41cd56362f78ea2f7a407cf177542aa9931303ac5a');
CREATE TABLE item (
	item_id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	block TEXT NOT NULL, 
	prompt TEXT NOT NULL, 
	"query" JSON NOT NULL, 
	"left" JSON NOT NULL, 
	"right" JSON NOT NULL, 
	CONSTRAINT pk_item PRIMARY KEY (item_id)
);
INSERT INTO "item" VALUES('i1','item','2d','Find.','{"kind": "image", "media_ids": ["m1"], "text": ""}','[{"kind": "image", "media_ids": ["m1"], "text": ""}, {"kind": "image", "media_ids": ["m1"], "text": ""}, {"kind": "image", "media_ids": ["m1"], "text": ""}]','[{"kind": "image", "media_ids": ["m1"], "text": ""}, {"kind": "image", "media_ids": ["m1"], "text": ""}, {"kind": "image", "media_ids": ["m1"], "text": ""}]');
INSERT INTO "item" VALUES('i2','item','2d','Find.','{"kind": "image", "media_ids": ["m1"], "text": ""}','[{"kind": "image", "media_ids": ["m1"], "text": ""}, {"kind": "image", "media_ids": ["m1"], "text": ""}, {"kind": "image", "media_ids": ["m1"], "text": ""}]','[{"kind": "image", "media_ids": ["m1"], "text": ""}, {"kind": "image", "media_ids": ["m1"], "text": ""}, {"kind": "image", "media_ids": ["m1"], "text": ""}]');
CREATE TABLE medium (
	"key" INTEGER NOT NULL, 
	media_id TEXT NOT NULL, 
	coding TEXT NOT NULL, 
	shape JSON NOT NULL, 
	sha256 TEXT NOT NULL, 
	content BLOB NOT NULL, 
	CONSTRAINT pk_medium PRIMARY KEY ("key"), 
	CONSTRAINT uq_medium_media_id UNIQUE (media_id)
);
INSERT INTO "medium" VALUES(7,'m1','zlib','[1, 1]','aa',X'706978656C73');
CREATE TABLE presentation (
	rater TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	item_id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	swapped BOOLEAN NOT NULL, 
	CONSTRAINT pk_presentation PRIMARY KEY (rater, position), 
	CONSTRAINT fk_presentation_item_id FOREIGN KEY(item_id) REFERENCES item (item_id), 
	CONSTRAINT fk_presentation_rater FOREIGN KEY(rater) REFERENCES rater (name)
);
INSERT INTO "presentation" VALUES('ann',1,'i2','item',0);
INSERT INTO "presentation" VALUES('ann',2,'i1','item',0);
CREATE TABLE rater (
	name TEXT NOT NULL, 
	created_utc TEXT NOT NULL, 
	specialty TEXT, 
	years INTEGER, 
	modalities TEXT, 
	display TEXT, 
	CONSTRAINT pk_rater PRIMARY KEY (name)
);
INSERT INTO "rater" VALUES('ann','2026-11-30T06:03:43.874Z','radiology',9,NULL,NULL);
CREATE TABLE session (
	session_id TEXT NOT NULL, 
	rater TEXT NOT NULL, 
	started_utc TEXT NOT NULL, 
	software TEXT NOT NULL, 
	CONSTRAINT pk_session PRIMARY KEY (session_id), 
	CONSTRAINT fk_session_rater FOREIGN KEY(rater) REFERENCES rater (name)
);
INSERT INTO "session" VALUES('se1','ann','2026-11-30T06:03:43.890Z','0.1.0');
CREATE TABLE study (
	one INTEGER NOT NULL, 
	study_id TEXT NOT NULL, 
	title TEXT NOT NULL, 
	created_utc TEXT NOT NULL, 
	software TEXT NOT NULL, 
	order_seed TEXT NOT NULL, 
	settings JSON NOT NULL, 
	sealed_sha256 TEXT NOT NULL, 
	commitment TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	CONSTRAINT pk_study PRIMARY KEY (one), 
	CONSTRAINT ck_study_single CHECK (one = 1)
);
INSERT INTO "study" VALUES(1,'s1','Chest','2026-01-31T12:00:00.000Z','0.1.0','5','{}','bb','cc','dd');
CREATE INDEX ix_entry_place ON entry (rater, position);
CREATE TRIGGER study_no_update BEFORE UPDATE ON study BEGIN SELECT RAISE(ABORT, 'study is append-only'); END;
CREATE TRIGGER study_no_delete BEFORE DELETE ON study BEGIN SELECT RAISE(ABORT, 'study is append-only'); END;
CREATE TRIGGER item_no_update BEFORE UPDATE ON item BEGIN SELECT RAISE(ABORT, 'item is append-only'); END;
CREATE TRIGGER item_no_delete BEFORE DELETE ON item BEGIN SELECT RAISE(ABORT, 'item is append-only'); END;
CREATE TRIGGER medium_no_update BEFORE UPDATE ON medium BEGIN SELECT RAISE(ABORT, 'medium is append-only'); END;
CREATE TRIGGER medium_no_delete BEFORE DELETE ON medium BEGIN SELECT RAISE(ABORT, 'medium is append-only'); END;
CREATE TRIGGER rater_no_update BEFORE UPDATE ON rater BEGIN SELECT RAISE(ABORT, 'rater is append-only'); END;
CREATE TRIGGER rater_no_delete BEFORE DELETE ON rater BEGIN SELECT RAISE(ABORT, 'rater is append-only'); END;
CREATE TRIGGER presentation_no_update BEFORE UPDATE ON presentation BEGIN SELECT RAISE(ABORT, 'presentation is append-only'); END;
CREATE TRIGGER presentation_no_delete BEFORE DELETE ON presentation BEGIN SELECT RAISE(ABORT, 'presentation is append-only'); END;
CREATE TRIGGER session_no_update BEFORE UPDATE ON session BEGIN SELECT RAISE(ABORT, 'session is append-only'); END;
CREATE TRIGGER session_no_delete BEFORE DELETE ON session BEGIN SELECT RAISE(ABORT, 'session is append-only'); END;
CREATE TRIGGER entry_no_update BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'entry is append-only'); END;
CREATE TRIGGER entry_no_delete BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'entry is append-only'); END;
COMMIT;
