#!/bin/bash
# A real API server for tests, on loopback: cluster.sh DIR [OPTIONS OF KUBE-APISERVER]
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Starts etcd and kube-apiserver, both found in PATH, with all their files in DIR. Writes kubeconfig,
# ca.crt, token (of an administrator) and url to DIR, prints "ready", and serves until it is ended
# (SIGTERM) or its standard input closes.
set -euo pipefail
dir=$(realpath -m "$1")
shift
mkdir -p "$dir"
port() { python3 -c 'import socket; s=socket.socket(); s.bind(("127.0.0.1",0)); print(s.getsockname()[1])'; }
etcd_port=$(port) peer_port=$(port) api_port=$(port)
url=https://127.0.0.1:$api_port
token=$(openssl rand -hex 16)

cd "$dir"
openssl genrsa -out sa.key 2048 2>/dev/null
openssl req -x509 -newkey rsa:2048 -nodes -keyout tls.key -out ca.crt -days 2 \
  -subj /CN=kube-apiserver -addext subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc 2>/dev/null
echo "$token,admin,admin,system:masters" > tokens.csv
cat > kubeconfig <<EOF
apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "$url", certificate-authority: "$dir/ca.crt"}}]
users: [{name: admin, user: {token: $token}}]
contexts: [{name: test, context: {cluster: test, user: admin}}]
current-context: test
EOF
echo "$token" > token
echo "$url" > url

# SIGKILL: after SIGTERM, an API server without its etcd takes a minute to end.
children=()
trap 'kill -KILL "${children[@]}" 2>/dev/null; wait 2>/dev/null' EXIT
trap 'exit 0' TERM INT
etcd --data-dir="$dir/etcd" --unsafe-no-fsync --log-level=error \
  --listen-client-urls="http://127.0.0.1:$etcd_port" --advertise-client-urls="http://127.0.0.1:$etcd_port" \
  --listen-peer-urls="http://127.0.0.1:$peer_port" --initial-advertise-peer-urls="http://127.0.0.1:$peer_port" \
  --initial-cluster="default=http://127.0.0.1:$peer_port" > etcd.log 2>&1 &
children+=($!)
# Without the ServiceAccount plugin: it needs an account "default", which only
# kube-controller-manager makes.
kube-apiserver --etcd-servers="http://127.0.0.1:$etcd_port" --bind-address=127.0.0.1 --secure-port="$api_port" \
  --advertise-address=127.0.0.1 --endpoint-reconciler-type=none --service-cluster-ip-range=10.0.0.0/24 \
  --tls-cert-file=ca.crt --tls-private-key-file=tls.key --token-auth-file=tokens.csv \
  --service-account-issuer=https://kubernetes.default.svc --service-account-key-file=sa.key \
  --service-account-signing-key-file=sa.key --authorization-mode=Node,RBAC \
  --disable-admission-plugins=ServiceAccount "$@" > apiserver.log 2>&1 &
children+=($!)
for _ in $(seq 600); do
  if [ "$(curl -s --cacert ca.crt -H "Authorization: Bearer $token" "$url/readyz" || true)" = ok ]; then
    echo ready
    cat > /dev/null
    exit 0
  fi
  kill -0 "${children[@]}" || { tail -5 apiserver.log etcd.log >&2; exit 1; }
  sleep 0.1
done
echo "cluster.sh: no API server after 60 s" >&2
exit 1
