import { createApp } from '#src/app.ts'
import { createFindEffect, createKeepStatus } from '#src/platform/http/idempotency.ts'
import { listen } from '#src/platform/http/server.ts'
import { collectDisk } from '#src/platform/metrics.ts'
import { parseStoreAddress } from '#src/platform/store/address.ts'
import { runProcess } from '#src/process.ts'
import { featureRoutes } from '#src/routes.ts'

await runProcess('web', async ({ config, services, log, metrics }) => {
  await services.signingKeys().ensure()
  await services.store().check()
  const blobs = parseStoreAddress(config.BLOB_STORE)
  collectDisk(metrics.registry, blobs.kind === 'disk' ? blobs.root : undefined)
  const baseUrl = (config.BASE_URL ?? `http://${config.HOST}:${config.PORT}`).replace(/\/$/, '')
  const { find: findKey } = services.keys()
  const { jwks } = services.signingKeys()
  const findEffect = createFindEffect(services.db())
  const keepStatus = createKeepStatus(services.db())
  const app = createApp({
    routes: featureRoutes(services),
    findKey,
    findEffect,
    keepStatus,
    jwks,
    baseUrl,
    log,
    metrics,
  })
  const { port, close } = await listen(app, { port: config.PORT, host: config.HOST })
  return { port, stop: close }
})
