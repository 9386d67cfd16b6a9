#!/bin/sh
# Makes or updates the two schemas of Temporal's database; safe to repeat.
# SQL_HOST, SQL_PORT, SQL_USER, SQL_PASSWORD and SQL_PLUGIN are set in the
# compose file.
set -eu

update() {
	database=$1 schema=$2
	temporal-sql-tool --db "$database" setup-schema --version 0.0
	temporal-sql-tool --db "$database" update-schema --schema-name "$schema"
}

update temporal postgresql/v12/temporal
update temporal_visibility postgresql/v12/visibility
