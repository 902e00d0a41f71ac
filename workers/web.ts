import { batchRoutes } from '#src/attest/batches/routes.ts'
import { captureRoutes } from '#src/attest/captures/routes.ts'
import { claimRoutes } from '#src/attest/claims/routes.ts'
import { deviceRoutes } from '#src/attest/devices/routes.ts'
import { mediaRoutes } from '#src/attest/media/routes.ts'
import { webhookRoutes } from '#src/account/webhooks/routes.ts'
import { createApp } from '#src/app.ts'
import { listen } from '#src/platform/http/server.ts'
import { runProcess } from '#src/process.ts'

await runProcess('web', async ({ config, services, log, metrics }) => {
  await services.signingKeys().ensure()
  await services.store().sweep()
  const routes = [
    ...mediaRoutes(services.media()),
    ...claimRoutes(services.claims()),
    ...batchRoutes(services.batches()),
    ...captureRoutes(services.captures()),
    ...deviceRoutes(services.devices(), services.rootCas()),
    ...webhookRoutes(services.webhooks()),
  ]
  const baseUrl = (config.BASE_URL ?? `http://${config.HOST}:${config.PORT}`).replace(/\/$/, '')
  const { jwks } = services.signingKeys()
  const app = createApp({ routes, findKey: services.keys().find, jwks, baseUrl, log, metrics })
  const { port, close } = await listen(app, { port: config.PORT, host: config.HOST })
  return { port, stop: close }
})
