// Sends one event to a program on this machine, as the service would: the same body, headers and signature. Before it is
// sent, the signature is verified over the bytes, and the event is compared with the catalogue.

import { Agent, request } from 'undici'
import { bodyOf, type Envelope } from '#src/account/webhooks/envelope.ts'
import { ATTEMPT_TIMEOUT_MS } from '#src/account/webhooks/schedule.ts'
import { signDelivery, verifyWebhookSignature } from '#src/account/webhooks/signature.ts'
import { type EmittedType, EVENT_DATA } from '#src/catalogue/events.ts'
import { newId } from '#src/platform/ids.ts'
import { sentenceOf } from '../sentence.ts'

export interface Forwarded {
  /** undefined: there was no answer. */
  status: number | undefined
  /** Why there was no answer. */
  error: string | undefined
  durationMs: number
  /** Why the event or its signature was not verified. It is sent all the same. */
  problem: string | undefined
}

export const isAccepted = ({ status }: Forwarded): boolean => status !== undefined && status >= 200 && status < 300

// An answer's body is not shown. A short one is read to its end, so that the connection serves the next event.
const MAX_ANSWER_BYTES = 64 * 1024

export function createForwarder({ url, secret }: { url: string; secret: string }) {
  const dispatcher = new Agent({ connections: 1, connect: { timeout: 5_000 } })
  return {
    async forward(event: Envelope, signal: AbortSignal): Promise<Forwarded> {
      const rawBody = bodyOf(event)
      const startedAt = performance.now()
      const took = () => Math.round(performance.now() - startedAt)
      const nowSeconds = Math.floor(Date.now() / 1_000)
      const signed = signDelivery({ rawBody, eventId: event.event_id, secrets: [secret], nowSeconds })
      const verdict = verifyWebhookSignature({ rawBody, headers: signed }, [secret], nowSeconds)
      const problem = verdict.valid ? problemOf(event) : `its signature is not valid: ${verdict.reason}`
      try {
        const { statusCode, body } = await request(url, {
          dispatcher,
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'user-agent': 'Countersign-Listen/1',
            'service-event-id': event.event_id,
            'service-event-type': event.type,
            // Made here: the service knows no delivery to this program.
            'service-delivery-id': newId('whd', 'sandbox'),
            'service-delivery-attempt': '1',
            ...signed,
          },
          body: rawBody,
          signal: AbortSignal.any([signal, AbortSignal.timeout(ATTEMPT_TIMEOUT_MS)]),
        })
        await body.dump({ limit: MAX_ANSWER_BYTES }).catch(() => {})
        return { status: statusCode, error: undefined, durationMs: took(), problem }
      } catch (error) {
        signal.throwIfAborted()
        const isLate = error instanceof Error && error.name === 'TimeoutError'
        const reason = isLate ? `no answer within ${ATTEMPT_TIMEOUT_MS / 1_000} s` : sentenceOf(error)
        return { status: undefined, error: reason, durationMs: took(), problem }
      }
    },
    close: () => dispatcher.destroy(),
  }
}

/** How an event differs from what the catalogue says of its type. */
export function problemOf({ type, data }: Pick<Envelope, 'type' | 'data'>): string | undefined {
  if (!Object.hasOwn(EVENT_DATA, type)) return `this version of the program knows no event ${type}`
  const parsed = EVENT_DATA[type as EmittedType].safeParse(data)
  const [issue] = parsed.error?.issues ?? []
  return issue && `data${issue.path.map((part) => `.${String(part)}`).join('')}: ${issue.message}`
}
