// Verifies the signature of a token, reads what it is bound to under the same locks, and records the decision. No key of the
// API, no schemas, no policy.

import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import Koa from 'koa'
import { readBody, serve, setting } from './floor.ts'
import { db, readBound, recordDecision, scope } from './intents.ts'

const { keys } = JSON.parse(setting('JWKS')) as { keys: { kid: string }[] }
const byKid = new Map<string, KeyObject>(keys.map((key) => [key.kid, createPublicKey({ key, format: 'jwk' })]))

const app = new Koa()
app.use(async (ctx) => {
  const { intent_token: token } = JSON.parse((await readBody(ctx.req)).toString())
  const [head = '', body = '', signature = ''] = String(token).split('.')
  const key = byKid.get(JSON.parse(Buffer.from(head, 'base64url').toString()).kid)
  if (key === undefined) throw new Error('the token is by an unknown key')
  const bytes = Buffer.from(signature, 'base64url')
  const isValid = verify('sha256', Buffer.from(`${head}.${body}`), { key, dsaEncoding: 'ieee-p1363' }, bytes)
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString())
  await db.tenant(scope, async (tx) => {
    await readBound(tx, claims, claims.jti)
    await recordDecision(tx, 'verify', claims.jti)
  })
  ctx.body = { valid: isValid, reason: null, jti: claims.jti }
})
serve(app.callback())
