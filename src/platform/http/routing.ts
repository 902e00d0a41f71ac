// Which declared route answers an address, and what is answered where none does.

import Router, { type RouterContext } from '@koa/router'
import type { Context, Next } from 'koa'
import { Failure } from '#src/failure.ts'
import type { Route } from './endpoint.ts'

/** Exact paths only: a proxy's rule or a log entry for /v1/claims must not also match /V1/Claims/. */
const EXACT = { sensitive: true, strict: true } as const

/** In the router's order: `/v1/claims/batches` before `/v1/claims/:id`, and `/app/assets/:name` before `/app/*path`. */
export function inOrder(routes: readonly Route[]): Route[] {
  // One character per segment, so that any two paths compare in the same order.
  const rank = ({ path }: Route) =>
    path.replaceAll(/[^/]+/g, (segment) => (segment.startsWith('*') ? '2' : segment.startsWith(':') ? '1' : '0'))
  return routes.toSorted((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0))
}

interface Layer {
  path: string
  methods: string[]
}

/** Whether the two are one address. Parameters may have different names on different methods. */
function isOfShape(path: string | undefined, other: string): boolean {
  return path === other || (path !== undefined && shapeOf(path) === shapeOf(other))
}

/** The path without the names of its parameters. */
export function shapeOf(path: string): string {
  return path.replaceAll(/:[A-Za-z0-9_]+/g, ':')
}

/**
 * Whether the route is the one to answer: the most exact declared path that matches the request's address decides,
 * whichever methods it takes.
 */
function isMostExact(ctx: Context, { path }: Pick<Route, 'path'>): boolean {
  return isOfShape(pathOf(ctx), path)
}

/** Answers a request with a route. */
export type AnswerRoute = (ctx: Context, params: Record<string, string>) => Promise<void>

/**
 * Finds the route of a request. A path without parameters is looked up by its text, and nothing is more exact. For the others
 * there is a router per collection (`/v1/claims`, `/docs`), because a router tries the pattern of each of its paths.
 */
export function createRouting() {
  const fixed = new Map<string, AnswerRoute>()
  const routers = new Map<string, Router>()
  const dispatchers = new Map<string, ReturnType<Router['routes']>>()

  function routerOf(path: string): Router {
    const collection = collectionOf(path)
    if (collection.startsWith(':')) throw new Error(`the collection of ${path} must not be a parameter`)
    const router = routers.get(collection) ?? new Router(EXACT)
    routers.set(collection, router)
    dispatchers.set(collection, router.routes())
    return router
  }

  return {
    add(route: Pick<Route, 'method' | 'path'>, run: AnswerRoute): void {
      const { method, path } = route
      if (!/[:*]/.test(path)) fixed.set(`${method} ${path}`, run)
      routerOf(path).register(path, [method], (ctx, next) => (isMostExact(ctx, route) ? run(ctx, ctx.params) : next()))
    },
    middleware(ctx: RouterContext, next: Next): unknown {
      const { method, path } = ctx
      const run = fixed.get(`${method} ${path}`)
      if (run !== undefined) return run(ctx, {})
      const dispatch = dispatchers.get(collectionOf(path))
      return dispatch === undefined ? next() : dispatch(ctx, next)
    },
  }
}

/** The collection of a declared path or of a request's: the segment after /v1, or the first one. */
export function collectionOf(path: string): string {
  const [, first = '', second = ''] = path.split('/', 3)
  return first === 'v1' ? second : first
}

function pathOf(ctx: Context): string | undefined {
  const layers: Layer[] = ctx.matched ?? []
  return layers[0]?.path
}

/** The route table is public, so a wrong address or method is reported before a key is required. */
export function refuseUnmatched(ctx: Context, baseUrl: string): never {
  const layers: Layer[] = ctx.matched ?? []
  const path = pathOf(ctx)
  const methods = [
    ...new Set(layers.filter((layer) => isOfShape(path, layer.path)).flatMap((layer) => layer.methods)),
  ].sort()
  if (methods.length === 0) {
    throw new Failure('not_found', `This address does not exist. All addresses are at ${baseUrl}/docs/api-reference.`)
  }
  const allow = methods.join(', ')
  throw new Failure('method_not_allowed', {
    detail: `This address answers ${allow}, and not ${ctx.method}.`,
    headers: { Allow: allow },
  })
}
