BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0002');
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
INSERT INTO "entry" VALUES(1,'order','2026-11-30T16:08:41.755Z','ann',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'ee','dd','d805d9b19bcdb352914ed9200561550bacdc804b2acc850fa70dfe5b84795cfe');
INSERT INTO "entry" VALUES(2,'answer','2026-11-30T16:08:41.783Z','ann','se1',1,'i2','item','left',NULL,NULL,900,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'d805d9b19bcdb352914ed9200561550bacdc804b2acc850fa70dfe5b84795cfe','62618379d76d3cd4d3ba0d1cc01bd671f2abfcd9ee44ffb6234bda4c60fa3294');
INSERT INTO "entry" VALUES(3,'answer','2026-11-30T16:08:41.791Z','ann','se1',2,'i1','item','cannot',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'blurred','62618379d76d3cd4d3ba0d1cc01bd671f2abfcd9ee44ffb6234bda4c60fa3294','0cc68ec688a3b349f5ac8937dfebb1d8805ac49f3af122549a77222a04035778');
INSERT INTO "entry" VALUES(4,'pause','2026-11-30T16:08:41.792Z','ann','se1',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'0cc68ec688a3b349f5ac8937dfebb1d8805ac49f3af122549a77222a04035778','554355527b13dae446e3184956b126e28b2343c8e498999a407b681f6587ed1a');
INSERT INTO "entry" VALUES(5,'guess','2026-11-30T16:08:41.800Z','ann','se1',1,'i2','item','unsure',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'554355527b13dae446e3184956b126e28b2343c8e498999a407b681f6587ed1a','5a65202d71e0a86487bae99cb72a6ba81b81e30cab7d692cb081a46035265101');
INSERT INTO "entry" VALUES(6,'pack','2026-11-30T16:08:41.815Z','bob',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'a340f1820943bab48fc327bf2636ed78bbe0a7664ae88b615f71a07c694b18dc','5a65202d71e0a86487bae99cb72a6ba81b81e30cab7d692cb081a46035265101','6282e3a48063193e6380cb05afa0ed6da9a19146db7ef9efbc72bc4b18be9c6b');
INSERT INTO "entry" VALUES(7,'merge','2026-11-30T16:08:41.821Z','bob',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'dd','6282e3a48063193e6380cb05afa0ed6da9a19146db7ef9efbc72bc4b18be9c6b','a1564dee0e0fdba5c7cb885e372027555a818782d5e0bc75bee9314a014f3bb7');
CREATE TABLE head (
	one INTEGER NOT NULL, 
	entries INTEGER NOT NULL, 
	hash TEXT NOT NULL, 
	CONSTRAINT pk_head PRIMARY KEY (one), 
	CONSTRAINT ck_head_single CHECK (one = 1)
);
INSERT INTO "head" VALUES(1,7,'a1564dee0e0fdba5c7cb885e372027555a818782d5e0bc75bee9314a014f3bb7');
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
CREATE TABLE pack (
	pack_id TEXT NOT NULL, 
	rater TEXT NOT NULL, 
	created_utc TEXT NOT NULL, 
	public_key TEXT NOT NULL, 
	note TEXT, 
	CONSTRAINT pk_pack PRIMARY KEY (pack_id)
);
INSERT INTO "pack" VALUES('p1','bob','2026-01-31T12:00:00.000Z','aa',NULL);
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
INSERT INTO "rater" VALUES('ann','2026-11-30T16:08:41.740Z','radiology',9,NULL,NULL);
CREATE TABLE returned (
	number INTEGER NOT NULL, 
	pack_id TEXT NOT NULL, 
	rater TEXT NOT NULL, 
	received_utc TEXT NOT NULL, 
	entries INTEGER NOT NULL, 
	head TEXT NOT NULL, 
	sha256 TEXT NOT NULL, 
	content BLOB NOT NULL, 
	CONSTRAINT pk_returned PRIMARY KEY (number)
);
INSERT INTO "returned" VALUES(1,'p1','bob','2026-01-31T12:00:00.000Z',1,'cc','dd',X'7B7D');
CREATE TABLE seat (
	one INTEGER NOT NULL, 
	pack_id TEXT NOT NULL, 
	rater TEXT NOT NULL, 
	private_key TEXT NOT NULL, 
	CONSTRAINT pk_seat PRIMARY KEY (one), 
	CONSTRAINT ck_seat_single CHECK (one = 1)
);
INSERT INTO "seat" VALUES(1,'p1','bob','bb');
CREATE TABLE session (
	session_id TEXT NOT NULL, 
	rater TEXT NOT NULL, 
	started_utc TEXT NOT NULL, 
	software TEXT NOT NULL, 
	CONSTRAINT pk_session PRIMARY KEY (session_id), 
	CONSTRAINT fk_session_rater FOREIGN KEY(rater) REFERENCES rater (name)
);
INSERT INTO "session" VALUES('se1','ann','2026-11-30T16:08:41.774Z','0.1.0');
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
CREATE TRIGGER pack_no_update BEFORE UPDATE ON pack BEGIN SELECT RAISE(ABORT, 'pack is append-only'); END;
CREATE TRIGGER pack_no_delete BEFORE DELETE ON pack BEGIN SELECT RAISE(ABORT, 'pack is append-only'); END;
CREATE TRIGGER seat_no_update BEFORE UPDATE ON seat BEGIN SELECT RAISE(ABORT, 'seat is append-only'); END;
CREATE TRIGGER seat_no_delete BEFORE DELETE ON seat BEGIN SELECT RAISE(ABORT, 'seat is append-only'); END;
CREATE TRIGGER returned_no_update BEFORE UPDATE ON returned BEGIN SELECT RAISE(ABORT, 'returned is append-only'); END;
CREATE TRIGGER returned_no_delete BEFORE DELETE ON returned BEGIN SELECT RAISE(ABORT, 'returned is append-only'); END;
COMMIT;
