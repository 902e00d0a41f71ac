// Calls of identity providers, which tenants name: over our outbound caller, as the `fetch` that openid-client takes. Public
// addresses only, no redirects, bounded in time and size. A cut answer is an error here, though the outbound caller says none.

import type { Outbound, OutboundAnswer } from '#src/platform/net/outbound.ts'
import { isLocalName } from '#src/platform/net/url.ts'
import { ProviderError } from './problems.ts'

const TIMEOUT_MS = 5_000
// The largest key sets in use have 20 KB.
const MAX_ANSWER_BYTES = 256 * 1024

interface FetchOptions {
  method?: string | undefined
  headers?: Record<string, string> | undefined
  body?: unknown
}

export type AskProvider = (url: string, options?: FetchOptions) => Promise<Response>

/** @param onAnswer Is told each answer before openid-client reads it. */
export function createAskProvider(
  outbound: Pick<Outbound, 'send'>,
  account: string,
  onAnswer: (url: string, body: Buffer) => void = () => {},
): AskProvider {
  return async (url, { method = 'GET', headers = {}, body } = {}) => {
    const problem = addressProblemOf(url)
    if (problem !== undefined) throw new ProviderError('refused_address', problem)
    if (method !== 'GET' && method !== 'POST') throw new Error(`a provider is not called by ${method}`)
    const answer = await outbound.send({
      account,
      url,
      environment: url.startsWith('https:') ? 'live' : 'sandbox',
      method,
      headers,
      ...(body === undefined || body === null ? {} : { body: Buffer.from(String(body)) }),
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_ANSWER_BYTES,
    })
    const received = checked(answer)
    onAnswer(url, received.body)
    const hasBody = received.status !== 204 && received.status !== 205
    return new Response(hasBody ? new Uint8Array(received.body) : null, {
      status: received.status,
      headers: [...received.headers],
    })
  }
}

/**
 * Why an address of a provider is refused by its text. http is for a provider on this machine, which the outbound caller refuses
 * unless the operator allows it.
 */
export function addressProblemOf(address: string): string | undefined {
  const url = URL.parse(address)
  if (url === null) return 'its address is not a URL'
  if (url.protocol === 'https:') return undefined
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const isLocal = isLocalName(host) || host === '127.0.0.1' || host === '::1'
  return url.protocol === 'http:' && isLocal ? undefined : 'its address is not https'
}

type Received = Extract<OutboundAnswer, { ok: true }>

function checked(answer: OutboundAnswer): Received {
  if (!answer.ok) throw problemOf(answer)
  if (answer.isTruncated) throw new ProviderError('too_large', `its answer has more than ${MAX_ANSWER_BYTES} bytes`)
  if (answer.status >= 300 && answer.status < 400) throw new ProviderError('redirected', 'it answers with a redirect')
  if (answer.status < 200 || answer.status > 599)
    throw new ProviderError('invalid_answer', 'its status is none of HTTP')
  return answer
}

function problemOf({ code }: Extract<OutboundAnswer, { ok: false }>): ProviderError {
  switch (code) {
    case 'timeout':
    case 'aborted':
      return new ProviderError('timeout', `it did not answer within ${TIMEOUT_MS / 1_000} seconds`)
    case 'refused_address':
    case 'invalid_url':
      return new ProviderError('refused_address', 'its address is not public')
    case 'response_too_large':
      return new ProviderError('too_large', 'the headers of its answer are too long')
    case 'invalid_response':
      return new ProviderError('invalid_answer', 'its answer is not HTTP')
    default:
      return new ProviderError(
        'unreachable',
        code === 'tls_failed' ? 'its certificate is refused' : 'it is not reached',
      )
  }
}
