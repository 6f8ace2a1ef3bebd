# shellcheck shell=bash
# The servers that some tests start, and the browser: installed if need be. Tests
# start what they use themselves, on free ports; only the READMEs' examples that a
# consumer runs find servers, which the step starts on ports of its own.

need_services() {
	need_deb chromium chromium
	need_redis
	need_nats
	need_postgres
}

need_redis() { need_deb redis-server redis-server; }

need_nats() { need_deb nats-server nats-server; }

# need_postgres also wants the hll extension, whose sketches ours are compared with.
need_postgres() {
	if [[ ! -d /usr/lib/postgresql ]]; then
		# Else the package makes a cluster of its own, and starts it.
		install_deb postgresql-common
		echo 'create_main_cluster = false' >>/etc/postgresql-common/createcluster.conf
		install_deb postgresql
	fi
	local version
	version=$(postgres_version)
	[[ -e /usr/share/postgresql/$version/extension/hll.control ]] || install_deb "postgresql-$version-hll"
}

postgres_version() {
	find /usr/lib/postgresql -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -n | tail -n 1
}

start_redis() {
	need_redis
	start "$1" redis-server --bind 127.0.0.1 --port "$1" --save '' --appendonly no --dir "$scratch"
}

start_nats() {
	need_nats
	start "$1" nats-server --addr 127.0.0.1 --port "$1" --jetstream --store_dir "$scratch/nats"
}

start_postgres() {
	need_postgres
	local bin data=$scratch/postgres
	bin=/usr/lib/postgresql/$(postgres_version)/bin
	install -d -m 700 -o postgres "$data"
	chmod 711 "$scratch"
	local as=(setpriv --reuid postgres --regid postgres --clear-groups)
	quietly "${as[@]}" "$bin/initdb" --auth trust --username postgres --pgdata "$data"
	start "$1" "${as[@]}" "$bin/postgres" -D "$data" -h 127.0.0.1 -p "$1" -k "$data"
}

# undisturbed COMMAND… runs a command, and fails if it connects to a port of 127.0.0.1
# where a server of the machine's own would listen.
undisturbed() {
	local pid status=0
	show bystander 6379 4222 5432 '&'
	bystander 6379 4222 5432 &
	pid=$!
	"$@" || status=$?
	kill "$pid" && wait "$pid" || status=1
	return "$status"
}

# answers tells whether something listens on a port of 127.0.0.1.
answers() { (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# start PORT COMMAND… runs a server and waits until it answers.
start() {
	local port=$1 log=$scratch/$2.log tries
	shift
	! answers "$port" || fail "something listens on port $port, where $1 should"
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
