// A route is data: method, path, who may call it, its schemas and statuses. The same object guards the request, guards
// the response (an undeclared column can't leak) and writes the OpenAPI document.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { z } from 'zod'
import type { KeyScope, Plan, Product } from '#src/catalogue/access.ts'
import type { AuditAction } from '#src/catalogue/audit.ts'
import type { MeteredOperation } from '#src/catalogue/metered.ts'
import type { Permission } from '#src/catalogue/permissions.ts'
import { type CallKind, type RouteEffect, type SdkMethod, tagOf } from '#src/catalogue/sdk.ts'
import type { Failure } from '#src/failure.ts'
import type { Hold } from '#src/platform/fair-budget.ts'
import type { InlineBytes } from '#src/platform/owned-bytes.ts'
import type { Visit } from './caller.ts'
import type { FindEffect, IdempotencyKey, KeepStatus } from './idempotency.ts'
import type { MinimumRate } from './minimum-rate.ts'
import { type CountedPage, listItemOf, listOf } from './page.ts'
import type { Acting, Origin } from './principal.ts'
import type { ErrorForm } from './respond.ts'
import { runRoute } from './run.ts'
import type { Recheck } from './watch-access.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The caller, as the row of its key or session says; never anything that the request says. */
export interface Caller extends Acting {
  /** false: a publishable key, whose account many callers share. */
  isAccountBearing: boolean
  /** Plan of the account. */
  plan: Plan
  products: readonly Product[]
}

export interface PublicRequest<P, Q, B> {
  params: P
  query: Q
  body: B
  /**
   * The raw body, bounded by `maxBodyBytes` and by the minimum rate; only where `rawBody` is declared. After destroying
   * it the connection can still carry the answer.
   */
  stream: Readable
  header(name: string): string | undefined
  requestId: string
  /** From where it comes. */
  origin: Origin
  /** Aborted when the client goes away before it has its answer. */
  signal: AbortSignal
  /** The bytes of a base64 member that the schema has accepted; where `inlineBytes` is declared, also of a long one. */
  bytesOf(base64: string): InlineBytes
}

export interface Request<P, Q, B> extends PublicRequest<P, Q, B> {
  caller: Caller
  /** For `once`; only where the route has a replay and the request has an Idempotency-Key. */
  idempotencyKey: IdempotencyKey | undefined
  /** Set when the month's operations are used up, where `knowsRepeats` is declared: throw it unless this is a repeat. */
  overCap: Failure | undefined
  /** For a request that does several things: counts it once more. `rate_limited`, or undefined. */
  countAgain(): Promise<Failure | undefined>
}

declare const REPLY: unique symbol

/** Made by `reply()` only, so that a body that happens to have a `status` is never mistaken for one. */
export interface Reply<V> {
  status: number
  body: V
  headers?: Record<string, string>
  /** Values of Set-Cookie. */
  cookies?: readonly string[] | undefined
  readonly [REPLY]: true
}

/** Sent unchanged; Content-Type is the declared one unless `headers` names another. */
export interface StreamReply {
  status: number
  stream: Readable
  headers: Record<string, string>
}

export interface RouteSpec<Path extends string, P, Q, B, V> {
  method: Method
  /** Koa style: `/v1/media/:id`. Without `params` every path parameter is a plain string. */
  path: Path
  /**
   * Names the operation in the OpenAPI document and the function of a generated client: it starts with a verb and never
   * changes.
   */
  operationId: string
  sdk: SdkMethod
  effect: RouteEffect
  kind: CallKind
  summary: string
  params?: P
  /** Strict: an undeclared parameter is refused by name. */
  query?: Q
  /** A protocol of others lets clients send parameters that this route does not know: they are ignored. */
  ignoresUnknownQuery?: true
  /** JSON. A schema that accepts `undefined` makes the body optional. */
  body?: B
  /** Media types that a JSON body may have. Answers have the first. `application/json` when absent. */
  jsonTypes?: readonly [string, ...string[]]
  /**
   * A media type of another protocol, in which the body may also be sent: `read` makes the value of `body` of its bytes. It
   * throws a Failure for what it refuses.
   */
  otherBody?: { contentType: string; read(bytes: Buffer): Promise<Parsed<B, undefined>> }
  /** The form of its errors, also of those before its handler. Problems of RFC 9457 when absent. */
  errorForm?: ErrorForm
  /** The code for a JSON body of another content type. `unsupported_media_type` when absent. */
  wrongContentType?: 'invalid_request'
  /** For JSON and for raw bodies. 1 MiB when absent. */
  maxBodyBytes?: number
  /** For a JSON body. 2,000 when absent. */
  maxBodyValues?: number
  /**
   * Pointer of a base64 member that may be megabytes long: it is decoded while it arrives, and `bytesOf` returns it.
   */
  inlineBytes?: string
  /**
   * Exact types, or `image/*`. `isHashed`: the handler hashes the body anyway, and reports the digest to its
   * Idempotency-Key. `isKept`: what it reads is kept until the last byte has come, in memory or on disk.
   */
  rawBody?: { contentTypes: string[]; isHashed?: true; isKept?: true }
  /** The response is parsed through it. `z.never()` for a route that only streams. */
  view: V
  /** All statuses that may be sent; a bare return value is sent with the first. */
  status: readonly number[]
  /** The handler waits for a result, as `Prefer: wait` says: access is checked again before the result is sent. */
  waits?: true
  /** The handler may answer a StreamReply. */
  streams?: { contentType: string }
  /** A page for people, or a part of one: it is not in the OpenAPI document. */
  isPage?: true
}

/** Which principals a route takes. Without a scope, and unless it takes any key, it takes sessions only. */
interface Access {
  /** For keys. */
  scope?: KeyScope
  /**
   * Replaces a scope: every key may call, whatever its scopes and products. Used for what a key may know about itself.
   */
  takesAnyKey?: true
  /** In place of a scope: tokens of directories (SCIM), and neither keys nor sessions. */
  takesDirectory?: true
  /** For sessions: which roles (src/catalogue/permissions.ts). */
  permission?: Permission
  /** Refuses the publishable keys with `account_key_required`. */
  needsAccountKey?: true
  /** About the whole account, whatever the environment: a change takes a session or a live key. */
  isAccountLevel?: true
  /** Refuses accounts on other plans with `plan_required`. */
  plan?: Plan
  /** Stops or revokes something: its rate limit is one of its own, which other requests can't exhaust. */
  isEmergency?: true
  /** Its success is counted: beyond the plan's cap it is refused with `monthly_cap_exceeded`, before its body is judged. */
  meters?: MeteredOperation
  /** The handler refuses by itself beyond the cap: some requests repeat what was counted before. */
  knowsRepeats?: true
  /** Takes the session of an owner also while the account is closed. Reads always do. */
  isOpenWhenClosed?: true
  /**
   * Products that the route belongs to, where keys can be narrowed: the product that lists its feature. Undefined for
   * routes of the account.
   */
  products?: readonly Product[]
  /** What its entry in the audit log says. Tests check that a request to the route writes one. */
  audits?: AuditAction
}

export interface EndpointSpec<Path extends string, P, Q, B, V> extends RouteSpec<Path, P, Q, B, V>, Access {}

export interface PublicEndpointSpec<Path extends string, P, Q, B, V> extends RouteSpec<Path, P, Q, B, V> {
  /** Why the route needs no key. */
  public: string
}

/** A route with its types erased: app.ts mounts it, openapi.ts describes it and the house tests check it. */
export interface Route extends RouteSpec<string, z.ZodObject, z.ZodObject, z.ZodType, z.ZodType>, Access {
  public?: string
  /** Tag in the OpenAPI document. */
  tag: string
  /** Supports the header Idempotency-Key. */
  isIdempotent: boolean
  /** A list: it also streams everything that matches, as NDJSON. */
  isList: boolean
  handle(exchange: Exchange): Promise<Answer>
}

/** `monthly_cap_exceeded`, or undefined while there is room. */
export type FindOverCap = (caller: Caller) => Promise<Failure | undefined>

/** One request to a route, as the app passes it. */
export interface Exchange {
  req: IncomingMessage
  res: ServerResponse
  /** Decoded path parameters. */
  params: Record<string, string>
  /** The raw query string, without its question mark. */
  search: string
  requestId: string
  clientAddress: (req: IncomingMessage) => string
  /** Who calls, once it is known that they may. */
  authenticate(visit: Visit): Promise<Caller>
  /** The same once more while an answer is sent, without counting a request. */
  identify(visit: Visit): Promise<Caller>
  /** Counts the request against its rate limit once more. */
  countAgain(caller: Caller): Promise<Failure | undefined>
  /** Why an account whose month is used up is refused. */
  findOverCap: FindOverCap | undefined
  findEffect: FindEffect
  keepStatus: KeepStatus | undefined
  pace: MinimumRate
  /** What the JSON body may hold in memory, of its account's share; without a caller, of its address's. */
  openHold(caller: Caller | undefined): Hold
}

/** `text` is a Buffer once it is encoded. */
export type Answer = TextAnswer | StreamAnswer

interface StreamAnswer extends StreamReply {
  /** Check of a caller with a key or a session, repeated while the stream is sent. */
  recheck?: Recheck
}

interface TextAnswer {
  status: number
  headers: Record<string, string>
  text: string | Buffer
  cookies?: readonly string[] | undefined
}

type Schema = z.ZodType | undefined
type ObjectSchema = z.ZodObject | undefined
type Parsed<S, Otherwise> = S extends z.ZodType ? z.output<S> : Otherwise
type Returned<V extends z.ZodType> = z.input<V> | Reply<z.input<V>> | StreamReply

type PathParam<Path extends string> = Path extends `${string}:${infer Tail}`
  ? Tail extends `${infer Name}/${infer Rest}`
    ? Name | PathParam<`/${Rest}`>
    : Tail
  : never
type ParamsOf<Path extends string, P> = Parsed<P, { [Name in PathParam<Path>]: string }>
type NoQuery = Record<string, never>

/**
 * A route that needs a key with `scope`, or a session whose role has `permission`.
 * @param replay Shows the current state of what an earlier request with the same Idempotency-Key made. `subject` is
 * what the domain passed to `once`; `status` is the status of the first answer and of the replay. Every route that
 * changes something has one.
 */
export function endpoint<
  const Path extends string,
  V extends z.ZodType,
  P extends ObjectSchema = undefined,
  Q extends ObjectSchema = undefined,
  B extends Schema = undefined,
>(
  spec: EndpointSpec<Path, P, Q, B, V>,
  handler: (
    request: Request<ParamsOf<Path, P>, Parsed<Q, NoQuery>, Parsed<B, undefined>>,
  ) => Promise<Returned<NoInfer<V>>>,
  replay?: (
    request: Request<ParamsOf<Path, P>, Parsed<Q, NoQuery>, Parsed<B, undefined>>,
    subject: string,
    status: number,
  ) => Promise<Returned<NoInfer<V>>>,
): Route {
  return buildRoute(spec, handler, replay)
}

type ListSpec<Path extends string, P, Q extends z.ZodRawShape, V> = Omit<
  EndpointSpec<Path, P, undefined, undefined, V>,
  'method' | 'effect' | 'kind' | 'query' | 'view' | 'status'
> & {
  /** What the list takes: `pageQuery` or `listQuery`, and its filters. */
  query: Q
  /** The view of one item. */
  item: V
}

/**
 * A route that answers a page of a list.
 * @param toView Shows one row, where `read` answers rows.
 */
export function listEndpoint<
  const Path extends string,
  V extends z.ZodType,
  Q extends z.ZodRawShape,
  Row,
  P extends ObjectSchema = undefined,
>(
  spec: ListSpec<Path, P, Q, V>,
  read: (request: ListRouteRequest<Path, P, Q>) => Promise<CountedPage<Row>>,
  toView: (row: Row, request: ListRouteRequest<Path, P, Q>) => z.input<NoInfer<V>>,
): Route
export function listEndpoint<
  const Path extends string,
  V extends z.ZodType,
  Q extends z.ZodRawShape,
  P extends ObjectSchema = undefined,
>(
  spec: ListSpec<Path, P, Q, V>,
  read: (request: ListRouteRequest<Path, P, Q>) => Promise<CountedPage<z.input<NoInfer<V>>>>,
): Route
export function listEndpoint(
  { item, query, ...spec }: { item: z.ZodType; query: z.ZodRawShape; sdk: SdkMethod },
  read: (request: never) => Promise<CountedPage<unknown>>,
  toView?: (row: never, request: never) => unknown,
): Route {
  const list = { method: 'GET', effect: 'read', kind: 'list', status: [200] } as const
  const built = { ...spec, ...list, query: z.object(query), view: listOf(item) }
  return buildRoute(built, async (request: never) => {
    const { data, ...page } = await read(request)
    return { ...page, data: toView === undefined ? data : data.map((row) => toView(row as never, request)) }
  })
}

type ListRouteRequest<Path extends string, P, Q extends z.ZodRawShape> = Request<
  ParamsOf<Path, P>,
  z.output<z.ZodObject<Q>>,
  undefined
>

/** A route without a key or session; `public` says why. */
export function publicEndpoint<
  const Path extends string,
  V extends z.ZodType,
  P extends ObjectSchema = undefined,
  Q extends ObjectSchema = undefined,
  B extends Schema = undefined,
>(
  spec: PublicEndpointSpec<Path, P, Q, B, V>,
  handler: (
    request: PublicRequest<ParamsOf<Path, P>, Parsed<Q, NoQuery>, Parsed<B, undefined>>,
  ) => Promise<Returned<NoInfer<V>>>,
): Route {
  return buildRoute(spec, handler)
}

const replies = new WeakSet<object>()

/** An answer with a status other than the first declared one, with headers, or with cookies (values of Set-Cookie). */
export function reply<V>(
  status: number,
  body: V,
  headers: Record<string, string> = {},
  cookies?: readonly string[],
): Reply<V> {
  const made = { status, body, headers, cookies } as Reply<V>
  replies.add(made)
  return made
}

export function isReply(value: unknown): value is Reply<unknown> {
  return typeof value === 'object' && value !== null && replies.has(value)
}

/** The types of handlers after the schemas have parsed the request. */
export interface Handlers {
  handler(request: Request<unknown, unknown, unknown>): Promise<unknown>
  replay?(request: Request<unknown, unknown, unknown>, subject: string, status: number): Promise<unknown>
}

interface BuiltSpec {
  method: Method
  sdk: SdkMethod
  query?: ObjectSchema
  ignoresUnknownQuery?: true
  view: z.ZodType
}

// The schemas check at run time what the generics state at compile time, so the erased calls are safe.
function buildRoute(spec: BuiltSpec, handler: unknown, replay?: unknown): Route {
  const route = {
    ...spec,
    ...(spec.query === undefined || spec.ignoresUnknownQuery ? {} : { query: spec.query.strict() }),
    tag: tagOf(spec.sdk),
    isIdempotent: replay !== undefined,
    isList: spec.method === 'GET' && listItemOf(spec.view) !== undefined,
    handle: (exchange: Exchange) => runRoute(route, { handler, replay } as Handlers, exchange),
  } as Route
  return route
}
