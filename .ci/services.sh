# shellcheck shell=bash
# The servers that some tests talk to: Redis, PostgreSQL and NATS on their usual ports
# of 127.0.0.1. One that answers is used as it is; the others are installed if need be
# and run on throw-away data until .ci/run ends. The browser that some tests start is
# installed likewise.

need_services() {
	need_deb chromium chromium
	need_redis
	need_nats
	need_postgres
}

need_redis() {
	answers 6379 && return
	need_deb redis-server redis-server
	start 6379 redis-server --bind 127.0.0.1 --port 6379 --save '' --appendonly no --dir "$scratch"
}

need_nats() {
	answers 4222 && return
	need_deb nats-server nats-server
	start 4222 nats-server --addr 127.0.0.1 --port 4222 --jetstream --store_dir "$scratch/nats"
}

# need_postgres also wants the hll extension, whose sketches ours are compared with.
need_postgres() {
	if [[ ! -d /usr/lib/postgresql ]]; then
		# Else the package makes a cluster of its own on our port, closed to us.
		install_deb postgresql-common
		echo 'create_main_cluster = false' >>/etc/postgresql-common/createcluster.conf
		install_deb postgresql
	fi
	local version bin data=$scratch/postgres
	version=$(find /usr/lib/postgresql -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -n | tail -n 1)
	bin=/usr/lib/postgresql/$version/bin
	[[ -e /usr/share/postgresql/$version/extension/hll.control ]] || install_deb "postgresql-$version-hll"
	answers 5432 && return
	install -d -m 700 -o postgres "$data"
	chmod 711 "$scratch"
	local as=(setpriv --reuid postgres --regid postgres --clear-groups)
	quietly "${as[@]}" "$bin/initdb" --auth trust --username postgres --pgdata "$data"
	start 5432 "${as[@]}" "$bin/postgres" -D "$data" -h 127.0.0.1 -p 5432 -k "$data"
}

# answers tells whether something listens on a port of 127.0.0.1.
answers() { (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# start PORT COMMAND… runs a server and waits until it answers.
start() {
	local port=$1 log=$scratch/$2.log tries
	shift
	answers "$port" && return # installing it has started it
	printf '+ %s &\n' "$*" >&2
	setsid "$@" </dev/null >"$log" 2>&1 &
	echo $! >>"$scratch/servers"
	for ((tries = 0; tries < 100; tries++)); do
		answers "$port" && return
		sleep 0.2
	done
	fail "nothing answers on port $port" "$(cat "$log")"
}

stop_services() {
	local pid
	[[ -e $scratch/servers ]] || return 0
	while read -r pid; do kill "$pid" || true; done <"$scratch/servers"
	sleep 1
}
