import { z } from 'zod'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { timestampView } from '#src/platform/http/views.ts'
import { type Captures, MAX_SESSIONS } from './captures.ts'

const sessionsView = z
  .object({
    sessions: z.array(
      z
        .object({
          capture_session_id: z.string(),
          session_nonce: z.string(),
          issued_at: timestampView,
          expires_at: timestampView,
        })
        .meta({ id: 'IssuedSession' }),
    ),
  })
  .meta({ id: 'IssuedSessions' })

export function captureRoutes(captures: Captures): Route[] {
  return [
    endpoint(
      {
        method: 'POST',
        path: '/v1/claims/attest/sessions',
        operationId: 'createCaptureSessions',
        sdk: 'claims.captures.create',
        effect: 'write',
        kind: 'call',
        summary: 'Issue nonces for future captures: each nonce binds one capture to the ten minutes after its issue',
        scope: 'attest',
        permission: 'claims.submit',
        body: z.strictObject({
          count: z.number().int().min(1).max(MAX_SESSIONS),
          device_id: z.string().max(64).optional().describe('The only device that may use the nonces.'),
          claim_reference: z
            .string()
            .min(1)
            .max(255)
            .optional()
            .describe('The insurer’s claim number: only submissions of that claim may use the nonces.'),
        }),
        view: sessionsView,
        status: [200],
      },
      ({ caller, body, idempotencyKey }) => captures.issue(caller, body, idempotencyKey),
      ({ caller }, ids) => captures.reissue(caller, ids),
    ),
  ]
}
