import { webhookRoutes } from './account/webhooks/routes.ts'
import { batchRoutes } from './attest/batches/routes.ts'
import { captureRoutes } from './attest/captures/routes.ts'
import { streamRoutes } from './attest/captures/stream-routes.ts'
import { caseRoutes } from './attest/cases/routes.ts'
import { claimRoutes } from './attest/claims/routes.ts'
import { deviceRoutes } from './attest/devices/routes.ts'
import { duplicateRoutes } from './attest/duplicates/routes.ts'
import { claimErasureRoutes } from './attest/erasure/routes.ts'
import { evidenceRoutes } from './attest/evidence/routes.ts'
import { mediaRoutes } from './attest/media/routes.ts'
import { riskPolicyRoutes } from './attest/policy/routes.ts'
import { reevaluationRoutes } from './attest/reevaluate/routes.ts'
import { screenRoutes } from './attest/screen/routes.ts'
import { c2paRoutes } from './attest/trust/c2pa-routes.ts'
import type { Route } from './platform/http/endpoint.ts'
import type { Services } from './services.ts'

/** Every feature's routes: what web serves, the OpenAPI document describes and the house tests walk. */
export function featureRoutes(services: Services): Route[] {
  return [
    ...mediaRoutes(services.media()),
    ...claimRoutes(services.claims()),
    ...claimErasureRoutes(services.claimErasure()),
    ...duplicateRoutes(services.duplicateFindings()),
    ...evidenceRoutes(services.evidence()),
    ...caseRoutes(services.cases()),
    ...batchRoutes(services.batches()),
    ...captureRoutes(services.captures()),
    ...streamRoutes(services.streams()),
    ...deviceRoutes(services.devices(), services.challenges(), services.rootCas()),
    ...c2paRoutes(services.c2paAnchors()),
    ...screenRoutes(services.screenings(), services.screeningBatches(), services.screeningSettings()),
    ...riskPolicyRoutes(services.riskPolicy()),
    ...reevaluationRoutes(services.reevaluations()),
    ...webhookRoutes(services.webhooks()),
  ]
}
