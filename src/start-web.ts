import { createApp } from './app.ts'
import { notesOf } from './docs/notes.ts'
import { createFindEffect, createKeepStatus } from './platform/http/idempotency.ts'
import { listen } from './platform/http/server.ts'
import { collectDisk } from './platform/metrics.ts'
import { parseStoreAddress } from './platform/store/address.ts'
import type { Start } from './process.ts'
import { startRateLimits } from './rate-limits.ts'

/** The API and the pages. */
export const startWeb: Start = async ({
  config,
  services: { platform, account, features },
  log,
  metrics,
  patiently,
}) => {
  const { signingKeys, store, db, baseUrl, cookies } = platform
  await patiently(signingKeys.ensure)
  await store.check()
  const blobs = parseStoreAddress(config.BLOB_STORE)
  collectDisk(metrics.registry, blobs.kind === 'disk' ? blobs.root : undefined)
  const app = createApp({
    routes: features.flatMap(({ routes = [] }) => routes),
    notes: notesOf(features),
    findKey: account.keys.find,
    findSession: account.sessions.find,
    findDirectory: account.directoryTokens.find,
    cookies,
    trustedProxies: config.TRUSTED_PROXIES,
    limits: await startRateLimits(config, platform),
    findOverCap: account.usage.caps.check,
    recordRefusal: account.refusals.recordAct,
    findEffect: createFindEffect(db),
    keepStatus: createKeepStatus(db),
    jwks: signingKeys.jwks,
    baseUrl,
    log,
    metrics,
  })
  const { port, close } = await listen(app, { port: config.PORT, host: config.HOST })
  // Callers that wait for a result are answered now, and ask again elsewhere.
  const stop = (deadlineMs: number) => {
    platform.waiters.close()
    return close(deadlineMs)
  }
  return { port, stop }
}
