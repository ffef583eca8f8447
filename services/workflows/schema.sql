table workflows.cursor_key
  column only_row boolean not null default true
  column key bytea not null
  constraint cursor_key_pkey PRIMARY KEY (only_row)
  constraint cursor_key_single CHECK (only_row)

table workflows.dashboard_widgets
  column id uuid not null
  column dashboard_id uuid not null
  column company_id uuid not null
  column type text not null
  column title text not null
  column config json not null
  column refresh_interval_ms integer not null
  column x integer not null
  column y integer not null
  column w integer not null
  column h integer not null
  column created_at timestamp(3) with time zone not null default now()
  constraint dashboard_widgets_dashboard_fkey FOREIGN KEY (dashboard_id) REFERENCES workflows.dashboards(id) ON DELETE CASCADE
  constraint dashboard_widgets_on_grid CHECK (((x >= 0) AND (y >= 0) AND ((w >= 1) AND (w <= 12)) AND ((h >= 1) AND (h <= 12)) AND ((x + w) <= 12)))
  constraint dashboard_widgets_pkey PRIMARY KEY (id)
  constraint dashboard_widgets_type_known CHECK ((type = ANY (ARRAY['metric'::text, 'line'::text, 'bar'::text, 'table'::text, 'text'::text])))
  CREATE INDEX dashboard_widgets_dashboard_idx ON workflows.dashboard_widgets USING btree (dashboard_id)

table workflows.dashboards
  column id uuid not null
  column company_id uuid not null
  column owner_id uuid not null
  column name text not null
  column description text
  column created_at timestamp(3) with time zone not null default now()
  column updated_at timestamp(3) with time zone not null default now()
  constraint dashboards_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255)))
  constraint dashboards_pkey PRIMARY KEY (id)
  CREATE INDEX dashboards_list_idx ON workflows.dashboards USING btree (company_id, created_at DESC, id DESC)

table workflows.outbox
  column seq bigint not null generated always as identity
  column id text not null
  column type text not null
  column company_id uuid not null
  column payload json not null
  column created_at timestamp with time zone not null default now()
  column published_at timestamp with time zone
  column stream text not null default 'workflows'::text
  constraint outbox_id_key UNIQUE (id)
  constraint outbox_pkey PRIMARY KEY (seq)
  CREATE INDEX outbox_pending ON workflows.outbox USING btree (stream, seq) WHERE (published_at IS NULL)

table workflows.revoked_tokens
  column jti text collate "C" not null
  column expires_at timestamp(3) with time zone not null
  column revoked_at timestamp(3) with time zone not null default now()
  constraint revoked_tokens_pkey PRIMARY KEY (jti)
  CREATE INDEX revoked_tokens_expiry_idx ON workflows.revoked_tokens USING btree (expires_at)

table workflows.workflow_versions
  column workflow_id uuid not null
  column version integer not null
  column company_id uuid not null
  column name text not null
  column description text
  column trigger json not null
  column steps json not null
  column input_schema json
  column output_schema json
  column settings json
  column change_summary text
  column created_at timestamp(3) with time zone not null
  column archived_at timestamp(3) with time zone not null
  column canvas_state json
  column content_bytes integer
  constraint workflow_versions_pkey PRIMARY KEY (workflow_id, version)
  constraint workflow_versions_workflow_fkey FOREIGN KEY (workflow_id) REFERENCES workflows.workflows(id)

table workflows.workflows
  column id uuid not null
  column company_id uuid not null
  column name text not null
  column description text
  column status text not null
  column version integer not null default 1
  column trigger json not null
  column steps json not null
  column input_schema json
  column output_schema json
  column settings json
  column cloned_from uuid
  column content_bytes integer not null
  column content_revision bigint not null default 1
  column change_summary text
  column deploy_revision bigint not null default 0
  column deployed_revision bigint not null default 0
  column created_at timestamp(3) with time zone not null default now()
  column updated_at timestamp(3) with time zone not null default now()
  column version_created_at timestamp(3) with time zone not null default now()
  column canvas_state json
  column canvas_saved_at timestamp(3) with time zone
  column modified_at timestamp(3) with time zone
  column activation_revision bigint
  column activated_from text
  column refused_revision bigint
  column refused_at timestamp(3) with time zone
  constraint workflows_activated_from CHECK ((activated_from = ANY (ARRAY['draft'::text, 'paused'::text]))) NOT VALID
  constraint workflows_canvas_saved CHECK (((canvas_state IS NULL) = (canvas_saved_at IS NULL)))
  constraint workflows_deployed_not_ahead CHECK (((deployed_revision >= 0) AND (deployed_revision <= deploy_revision)))
  constraint workflows_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255)))
  constraint workflows_pkey PRIMARY KEY (id)
  constraint workflows_status_known CHECK ((status = ANY (ARRAY['draft'::text, 'active'::text, 'paused'::text, 'archived'::text])))
  constraint workflows_version_positive CHECK ((version >= 1))
  CREATE INDEX workflows_due_idx ON workflows.workflows USING btree (id) WHERE (deploy_revision > deployed_revision)
  CREATE INDEX workflows_list_by_name_idx ON workflows.workflows USING btree (company_id, created_at DESC, id DESC) INCLUDE (name) WHERE (status <> 'archived'::text)
  CREATE INDEX workflows_list_by_status_and_name_idx ON workflows.workflows USING btree (company_id, status, created_at DESC, id DESC) INCLUDE (name)
  CREATE INDEX workflows_name_idx ON workflows.workflows USING gin (company_id, lower(name) public.gin_trgm_ops)
  CREATE UNIQUE INDEX workflows_tools_idx ON workflows.workflows USING btree (company_id, ((settings #>> '{mcp,name}'::text[]))) WHERE ((status = 'active'::text) AND ((settings #>> '{mcp,name}'::text[]) IS NOT NULL))
