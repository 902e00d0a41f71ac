// The media routes as a caller sees them. A body can be sent piece by piece, and an answer's body is bytes.

import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { createReadAudit } from '#src/account/audit/reads.ts'
import { createDecoder, type DecoderOptions } from '#src/attest/media/decoder.ts'
import { createMedia, type MediaDomain } from '#src/attest/media/media.ts'
import { mediaRoutes } from '#src/attest/media/routes.ts'
import { DEFAULT_MINIMUM_RATE, type MinimumRate } from '#src/platform/http/minimum-rate.ts'
import type { Scope } from '#src/platform/ids.ts'
import { startTestService, type TestService } from '../../support/service.ts'

export interface Answer {
  status: number
  headers: IncomingMessage['headers']
  body: Buffer
  json: Record<string, unknown>
}

/** `attest`, `verify` and `live` (its other environment) are keys of one account, `stranger` is that of another. */
type KeyName = 'attest' | 'verify' | 'live' | 'stranger'

export interface Service extends TestService {
  media: MediaDomain
  scope: Scope
  strangerScope: Scope
  keys: Record<KeyName, string>
  countRows(): Promise<number>
  post(body: Uint8Array, headers: Record<string, string>, key?: KeyName): Promise<Answer>
  get(path: string, headers?: Record<string, string>, key?: KeyName): Promise<Answer>
  /** A request whose body the test sends piece by piece. */
  start(headers: Record<string, string>): { sending: ClientRequest; answer: Promise<Answer> }
}

export async function startService({
  pace,
  decoding,
}: {
  pace?: Partial<MinimumRate>
  decoding?: DecoderOptions
} = {}): Promise<Service> {
  const made: { media?: MediaDomain } = {}
  const service = await startTestService({
    ...(pace && { app: { pace: { ...DEFAULT_MINIMUM_RATE, ...pace } } }),
    replace({ platform, attest }) {
      if (decoding === undefined) return []
      const decoder = createDecoder(decoding)
      platform.onClose(() => decoder.close())
      made.media = createMedia({ ...platform, inspector: attest.media.inspector, decoder })
      return [{ name: 'media', routes: mediaRoutes(made.media, createReadAudit(platform)) }]
    },
  })
  const { accountId, key: stranger, environment } = await service.makeCaller({ scopes: ['all'] })
  const strangerScope = { accountId, environment }
  const { key: attest, ...caller } = await service.makeCaller({ scopes: ['attest'] })
  const scope = { accountId: caller.accountId, environment: caller.environment }
  const keys = {
    attest,
    verify: service.addKey({ ...scope, scopes: ['verify'] }),
    live: service.addKey({ ...scope, environment: 'live', scopes: ['attest', 'verify'] }),
    stranger,
  }
  const { port } = service.app

  const start = (key: string, headers: Record<string, string>) => {
    const sending = request({ port, method: 'POST', path: '/v1/media', headers: { 'x-api-key': key, ...headers } })
    const answer = new Promise<Answer>((resolve, reject) => {
      sending.once('error', reject).once('response', (response) => readAnswer(response).then(resolve, reject))
    })
    // A test that breaks the connection doesn't wait for the answer.
    answer.catch(() => {})
    return { sending, answer }
  }

  return {
    ...service,
    media: made.media ?? service.services.attest.media.media,
    scope,
    strangerScope,
    keys,
    countRows: () => service.count('media'),
    post(body, headers, key = 'attest') {
      const { sending, answer } = start(keys[key], { 'content-length': String(body.byteLength), ...headers })
      sending.end(body)
      return answer
    },
    get: (path, headers = {}, key = 'verify') =>
      new Promise((resolve, reject) => {
        request({ port, path, headers: { 'x-api-key': keys[key], ...headers } })
          .once('error', reject)
          .once('response', (response) => readAnswer(response).then(resolve, reject))
          .end()
      }),
    start: (headers) => start(attest, headers),
  }
}

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const body = await buffer(response)
  const isJson = response.headers['content-type']?.endsWith('json') === true
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body,
    json: isJson ? JSON.parse(body.toString()) : {},
  }
}
