BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0003');
CREATE TABLE collection (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	created_utc TEXT NOT NULL, 
	CONSTRAINT pk_collection PRIMARY KEY (id), 
	CONSTRAINT uq_collection_name UNIQUE (name)
);
INSERT INTO "collection" VALUES(1,'Chest','2026-11-30T06:03:43.755Z');
CREATE TABLE evidence (
	id INTEGER NOT NULL, 
	collection_id INTEGER NOT NULL, 
	path TEXT NOT NULL, 
	series_key TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	form TEXT, 
	modality TEXT, 
	shape JSON, 
	subject TEXT, 
	text TEXT, 
	digest TEXT, 
	error_code TEXT, 
	error_message TEXT, 
	details JSON NOT NULL, 
	added_utc TEXT NOT NULL, body_part TEXT, study TEXT, series TEXT, day INTEGER, warnings JSON, times INTEGER DEFAULT '1' NOT NULL, folder TEXT DEFAULT '' NOT NULL, file_count INTEGER DEFAULT '0' NOT NULL, laterality TEXT, "view" TEXT, 
	CONSTRAINT pk_evidence PRIMARY KEY (id), 
	CONSTRAINT fk_evidence_collection_id FOREIGN KEY(collection_id) REFERENCES collection (id) ON DELETE CASCADE, 
	CONSTRAINT uq_evidence_place UNIQUE (collection_id, path, series_key)
);
INSERT INTO "evidence" VALUES(1,1,'/data/a.png','/data/a.png','image','2d','CT','[1, 8, 8]','token',NULL,NULL,NULL,NULL,'{}','2026-11-30T06:03:43.760Z','CHEST','study token','series token',711000,'["burned_in_text"]',1,'/data',1,'L','AP');
CREATE TABLE evidence_file (
	evidence_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	path TEXT NOT NULL, 
	size BIGINT NOT NULL, 
	mtime_ns BIGINT NOT NULL, 
	CONSTRAINT pk_evidence_file PRIMARY KEY (evidence_id, position), 
	CONSTRAINT fk_evidence_file_evidence_id FOREIGN KEY(evidence_id) REFERENCES evidence (id) ON DELETE CASCADE
);
INSERT INTO "evidence_file" VALUES(1,0,'/data/a.png',10,20);
CREATE TABLE indexed_file (
	collection_id INTEGER NOT NULL, 
	folder TEXT NOT NULL, 
	name TEXT NOT NULL, 
	size BIGINT NOT NULL, 
	mtime_ns BIGINT NOT NULL, 
	reader INTEGER NOT NULL, 
	CONSTRAINT pk_indexed_file PRIMARY KEY (collection_id, folder, name), 
	CONSTRAINT fk_indexed_file_collection_id FOREIGN KEY(collection_id) REFERENCES collection (id) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "indexed_file" VALUES(1,'/data','a.png',10,20,1);
CREATE TABLE job (
	id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	title TEXT NOT NULL, 
	arguments JSON NOT NULL, 
	state TEXT NOT NULL, 
	done INTEGER NOT NULL, 
	total INTEGER NOT NULL, 
	unit TEXT NOT NULL, 
	phase TEXT NOT NULL, 
	sentence TEXT NOT NULL, 
	details TEXT NOT NULL, 
	result JSON, 
	exit_code INTEGER, 
	created_utc TEXT NOT NULL, 
	started_utc TEXT, 
	ended_utc TEXT, 
	CONSTRAINT pk_job PRIMARY KEY (id)
);
INSERT INTO "job" VALUES('j1','bench','Run','{"data": "demo"}','queued',0,0,'','','','',NULL,NULL,'2026-11-30T06:03:43.771Z',NULL,NULL);
CREATE TABLE meta (
	"key" TEXT NOT NULL, 
	value TEXT NOT NULL, 
	CONSTRAINT pk_meta PRIMARY KEY ("key")
);
CREATE TABLE query_result (
	task_result_id INTEGER NOT NULL, 
	"row" INTEGER NOT NULL, 
	rank INTEGER NOT NULL, 
	pool INTEGER NOT NULL, 
	gold TEXT NOT NULL, 
	ordered JSON NOT NULL, 
	CONSTRAINT pk_query_result PRIMARY KEY (task_result_id, "row"), 
	CONSTRAINT fk_query_result_task_result_id FOREIGN KEY(task_result_id) REFERENCES task_result (id) ON DELETE CASCADE
);
INSERT INTO "query_result" VALUES(1,0,1,4,'g','["g", "b"]');
CREATE TABLE task_result (
	id INTEGER NOT NULL, 
	data_digest TEXT NOT NULL, 
	task_digest TEXT NOT NULL, 
	task_id TEXT NOT NULL, 
	model_id TEXT NOT NULL, 
	fingerprint TEXT NOT NULL, 
	family TEXT NOT NULL, 
	form TEXT NOT NULL, 
	split TEXT NOT NULL, 
	n INTEGER NOT NULL, 
	chance JSON NOT NULL, 
	scores JSON NOT NULL, 
	details JSON NOT NULL, 
	seconds FLOAT NOT NULL, 
	created_utc TEXT NOT NULL, 
	CONSTRAINT pk_task_result PRIMARY KEY (id), 
	CONSTRAINT uq_task_result_cell UNIQUE (data_digest, task_id, model_id)
);
INSERT INTO "task_result" VALUES(1,'d','t','demo/i2i','random','f','I-I','2d','id',1,'{"hit@1": 0.25}','{"hit@1": 1.0}','{}',0.0,'2026-11-30T06:03:43.768Z');
CREATE INDEX ix_evidence_filter ON evidence (collection_id, form, modality);
CREATE INDEX ix_evidence_file_path ON evidence_file (path);
CREATE INDEX ix_evidence_body_part ON evidence (collection_id, body_part);
CREATE INDEX ix_evidence_subject ON evidence (collection_id, subject);
CREATE INDEX ix_evidence_study ON evidence (collection_id, study);
CREATE INDEX ix_evidence_folder ON evidence (collection_id, folder, series);
CREATE INDEX ix_evidence_told_study ON evidence (collection_id, study) WHERE text <> '';
CREATE INDEX ix_evidence_told_folder ON evidence (collection_id, folder, study) WHERE text <> '';
COMMIT;
