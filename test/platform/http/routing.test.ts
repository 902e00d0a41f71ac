import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Failure } from '#src/failure.ts'
import { createRouting, inOrder, refuseUnmatched } from '#src/platform/http/routing.ts'

type Declared = readonly [method: string, path: string]

const DECLARED: readonly Declared[] = [
  ['GET', '/v1/claims'],
  ['POST', '/v1/claims/batches'],
  ['GET', '/v1/claims/:id'],
  ['GET', '/v1/claims/:id/packet'],
  ['DELETE', '/v1/claims/:claim_id'],
  ['GET', '/v1/media/:id'],
  ['GET', '/docs/:page'],
  ['GET', '/docs/guides'],
]

/** Answers a request with the route that was found and its parameters, or with the code of the refusal and `Allow`. */
async function serve(declared: readonly Declared[]): Promise<(method: string, path: string) => Promise<string>> {
  const routing = createRouting()
  for (const route of inOrder(declared.map(([method, path]) => ({ method, path })) as never)) {
    routing.add(route, async (ctx, params) => {
      ctx.body = [route.method, route.path, ...Object.values(params)].join(' ')
    })
  }
  const app = new Koa()
  app.use(routing.middleware)
  app.use((ctx) => {
    try {
      refuseUnmatched(ctx, 'https://api.example.com')
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      ctx.body = [error.code, error.headers?.Allow].join(' ')
    }
  })
  const server = app.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  return async (method, path) => (await fetch(`http://127.0.0.1:${port}${path}`, { method })).text()
}

describe('the route of a request', () => {
  test.each([
    ['GET', '/v1/claims', 'GET /v1/claims'],
    ['GET', '/v1/claims/clm_1', 'GET /v1/claims/:id clm_1'],
    ['GET', '/v1/claims/a%2Fb?limit=1', 'GET /v1/claims/:id a/b'],
    ['DELETE', '/v1/claims/clm_1', 'DELETE /v1/claims/:claim_id clm_1'],
    ['GET', '/v1/claims/clm_1/packet', 'GET /v1/claims/:id/packet clm_1'],
    ['POST', '/v1/claims/batches', 'POST /v1/claims/batches'],
    ['GET', '/v1/media/med_1', 'GET /v1/media/:id med_1'],
    ['GET', '/docs/guides', 'GET /docs/guides'],
    ['GET', '/docs/errors', 'GET /docs/:page errors'],
    ['PUT', '/v1/claims/clm_1', 'method_not_allowed DELETE, GET, HEAD'],
    ['DELETE', '/v1/claims', 'method_not_allowed GET, HEAD'],
    // The most exact address decides: it is not the claim named `batches`.
    ['GET', '/v1/claims/batches', 'method_not_allowed POST'],
    ['GET', '/v1/Claims', 'not_found '],
    ['GET', '/v1/claims/', 'not_found '],
    ['GET', '/v1/claims/clm_1/', 'not_found '],
    ['GET', '/v1', 'not_found '],
    ['GET', '/', 'not_found '],
    ['GET', '/v1/constructor/1', 'not_found '],
    ['GET', '/claims/clm_1', 'not_found '],
  ])('%s %s: %s', async (method, path, answer) => {
    const answerOf = await serve(DECLARED)
    expect(await answerOf(method, path)).toBe(answer)
  })

  test('no collection is a parameter, for its routes would not be found', () => {
    const { add } = createRouting()
    expect(() => add({ method: 'GET', path: '/v1/:kind/:id' }, async () => {})).toThrow(
      'the collection of /v1/:kind/:id must not be a parameter',
    )
  })
})
