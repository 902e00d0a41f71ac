// What a feature adds to the service. A product lists its features. All code that must know every feature (the route
// table, OpenAPI, workers, clock, retention, the operator's redrive) derives from those lists.

import type { Registry } from 'prom-client'
import type { z } from 'zod'
import type { Product } from '#src/catalogue/access.ts'
import type { EmittedType, EVENT_DATA } from '#src/catalogue/events.ts'
import type { ProcessName, QueueName } from '#src/catalogue/queues.ts'
import type { BulkWork } from './bulk-work.ts'
import type { LinkTokens } from './crypto/link-token.ts'
import type { Sealer } from './crypto/seal.ts'
import type { SealedColumn } from './crypto/sealed-columns.ts'
import type { SigningKeys } from './crypto/signing-keys.ts'
import type { Clock } from './db/clock.ts'
import type { Database, PoolStates } from './db/database.ts'
import type { Route } from './http/endpoint.ts'
import type { Note } from './http/openapi.ts'
import type { Pager } from './http/page.ts'
import type { SessionCookies } from './http/session-cookie.ts'
import type { Engine } from './jobs/bull.ts'
import type { Work } from './jobs/consume.ts'
import type { Dispatcher } from './jobs/dispatch.ts'
import type { Waiters } from './jobs/waiters.ts'
import type { Ledger } from './ledger/record.ts'
import type { Log } from './log.ts'
import type { TxtLookup } from './net/lookup.ts'
import type { Outbound } from './net/outbound.ts'
import type { RetentionRule } from './retention.ts'
import type { Sequence } from './sequence.ts'
import type { BlobStore } from './store/blobs.ts'

/**
 * The parts that every feature may build on. Creating one does no I/O and starts no timer, socket, thread or process.
 */
export interface Platform {
  db: Database & { pools(): PoolStates }
  engine: Engine
  dispatcher: Dispatcher
  waiters: Waiters
  store: BlobStore
  /** For transactions of many rows. */
  bulkWork: BulkWork
  outbound: Outbound
  lookupTxt: TxtLookup
  sealer: Sealer
  ledger: Ledger
  signingKeys: SigningKeys
  pager: Pager
  cookies: SessionCookies
  linkTokens: LinkTokens
  clock: Clock
  /** Postgres's time. */
  now(): Date
  log: Log
  registry: Registry
  /** The API's public address, without a trailing slash. */
  baseUrl: string
  /** Dispatches one job right after its commit, for a caller that waits. It may fail: the dispatcher finds the job. */
  dispatchSoon(queue: QueueName): (jobId: string) => Promise<void>
  /** Called in reverse order when the process stops. `what` is its name in the log. */
  onClose(close: () => unknown, what?: string): void
}

/** Work of the process `clock`. */
export interface Task {
  name: string
  /** From the end of one run to the start of the next. */
  everyMs: number
  /** Called once, in the process that runs the task: metrics register here. */
  start(): (signal: AbortSignal) => Promise<unknown>
}

/** What the API reference shows of the events that a feature emits. */
export type EventNotes = { [Type in EmittedType]?: EventNote<Type> }

interface EventNote<Type extends EmittedType> {
  /** Example of the event's `data`. */
  example: z.input<(typeof EVENT_DATA)[Type]>
}

/** What a table has of an account, for the export and the erasure of the whole account. */
export interface TenantTable {
  table: string
  /** The columns of its primary key besides account and environment. */
  key: readonly string[]
  /** The account's, whatever the environment: the table has no such column. */
  isOfAccount?: true
  /** Columns that are not exported: secrets and hashes of secrets. */
  secrets?: readonly string[]
  /** Why no row is exported. */
  unexported?: string
  /** Blobs in the store that rows name: SQL on the row `t`. */
  blobs?: { sha256: string; contentType: string; where: string }
}

/** Lists features of some products: keys that are narrowed to another product can't call their routes. */
export function ofProducts(products: readonly Product[], features: readonly Feature[]): Feature[] {
  // A route runs with the declaration that it was built from, so that one is completed.
  for (const { routes = [] } of features) for (const route of routes) route.products = products
  return [...features]
}

export interface Feature {
  name: string
  /** Its tables with rows of accounts. */
  data?: readonly TenantTable[]
  routes?: Route[]
  /** What the API reference shows of each route, by method and path, such as `GET /v1/media/:id`. */
  notes?: Record<string, Note>
  events?: EventNotes
  /** One function per queue: metrics register only in the process that runs the queue. */
  work?: { [Q in QueueName]?: () => Work<Q> }
  retention?: RetentionRule[]
  /** Every column with values that `sealer` sealed: a rotation of the master key seals them again. */
  sealed?: readonly SealedColumn[]
  tasks?: Task[]
  /** Work of the process `sequence`. */
  sequences?: readonly Sequence[]
  /** Gauges that are read when a process is scraped. */
  collect?: Partial<Record<ProcessName, (registry: Registry) => void>>
  /** Called once, when the process is ready; it returns at once. */
  onReady?: Partial<Record<ProcessName, () => void>>
}

/** A feature and the functions that features above it may call. */
export function defineFeature<Api extends object>(feature: Feature, api: Api): Api & { feature: Feature } {
  return { feature, ...api }
}
