// A provider that answers whatever a test wants: any ID token, key set and discovery document.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'

export interface HostileProvider {
  issuer: string
  key: CryptoKey
  jwk: JWK
  /** Replaced by tests; by name of the endpoint. A function answers by itself. */
  answers: Partial<Record<Endpoint, object | ((req: IncomingMessage, res: ServerResponse, body: string) => void)>>
  /** How often each was asked. */
  asked: Record<Endpoint, number>
  /** A good ID token of a login, with claims and header of the test's choice. */
  token(claims: JWTPayload, header?: { alg?: string; kid?: string }, key?: CryptoKey | Uint8Array): Promise<string>
  close(): Promise<void>
}

const PATHS = {
  '/.well-known/openid-configuration': 'discovery',
  '/token': 'token',
  '/jwks': 'jwks',
  '/userinfo': 'userinfo',
} as const
type Endpoint = (typeof PATHS)[keyof typeof PATHS]

export async function startHostileProvider(): Promise<HostileProvider> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', use: 'sig', alg: 'RS256' }
  const server = createServer(async (req, res) => {
    const endpoint = PATHS[new URL(req.url ?? '/', 'http://x').pathname as keyof typeof PATHS]
    if (endpoint === undefined) return void res.writeHead(404).end()
    let body = ''
    for await (const chunk of req) body += chunk
    self.asked[endpoint] += 1
    const answer = self.answers[endpoint] ?? good(endpoint)
    if (typeof answer === 'function') return answer(req, res, body)
    res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const good = (endpoint: Endpoint): object =>
    endpoint === 'discovery' ? discoveryOf(issuer) : endpoint === 'jwks' ? { keys: [jwk] } : {}
  const self: HostileProvider = {
    issuer,
    key: privateKey,
    jwk,
    answers: {},
    asked: { discovery: 0, token: 0, jwks: 0, userinfo: 0 },
    token(claims, header = {}, key = privateKey) {
      const now = Math.floor(Date.now() / 1_000)
      const all = { iss: issuer, aud: 'client', iat: now, exp: now + 300, ...claims }
      return new SignJWT(all).setProtectedHeader({ alg: 'RS256', kid: 'one', ...header }).sign(key)
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return self
}

export function discoveryOf(issuer: string): Record<string, unknown> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    userinfo_endpoint: `${issuer}/userinfo`,
    code_challenge_methods_supported: ['S256'],
    id_token_signing_alg_values_supported: ['RS256', 'ES256', 'PS256', 'EdDSA', 'HS256', 'none'],
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
  }
}
