// Which declared route answers an address, and what is answered where none does.

import type { Context, Next } from 'koa'
import { Failure } from '#src/failure.ts'
import type { Route } from './endpoint.ts'

/** Exact paths only: a proxy's rule or a log entry for /v1/claims must not also match /V1/Claims/. */
export const EXACT = { sensitive: true, strict: true } as const

/** In the router's order: `/v1/claims/batches` must come before `/v1/claims/:id`. */
export function inOrder(routes: readonly Route[]): Route[] {
  // One character per segment, so that any two paths compare in the same order.
  const rank = ({ path }: Route) => path.replaceAll(/[^/]+/g, (segment) => (segment.startsWith(':') ? '1' : '0'))
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
export function isMostExact(ctx: Context, { path }: Route): boolean {
  return isOfShape(pathOf(ctx), path)
}

/** Answers a request with a route. */
export type AnswerRoute = (ctx: Context, params: Record<string, string>) => Promise<void>

/**
 * Finds routes whose path has no parameters, before the router, which tries the pattern of every path. Nothing is more exact
 * than such a path.
 */
export function createFixedPaths() {
  const runs = new Map<string, AnswerRoute>()
  return {
    add({ method, path }: Pick<Route, 'method' | 'path'>, run: AnswerRoute): void {
      if (!path.includes(':')) runs.set(`${method} ${path}`, run)
    },
    middleware: (ctx: Context, next: Next) => runs.get(`${ctx.method} ${ctx.path}`)?.(ctx, {}) ?? next(),
  }
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
    throw new Failure(
      'not_found',
      `There is nothing at this address. All addresses are at ${baseUrl}/docs/api-reference.`,
    )
  }
  const allow = methods.join(', ')
  throw new Failure('method_not_allowed', {
    detail: `This address answers ${allow}, and not ${ctx.method}.`,
    headers: { Allow: allow },
  })
}
