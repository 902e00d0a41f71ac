// What the package exports besides the verifiers, which are `@countersign/client/verify`.

import type { ClientOptions } from './core/options.ts'
import { createTransport } from './core/transport.ts'
import { Groups } from './generated/methods.ts'

/**
 * The client of one account and environment, which its key says.
 *
 * ```ts
 * const countersign = new Countersign({ apiKey, baseUrl })
 * for await (const claim of countersign.claims.list({ riskStatus: ['failed'] })) console.log(claim.claimId)
 * ```
 */
export class Countersign extends Groups {
  /** @throws {TypeError} when an option is missing or unsafe. */
  constructor(options: ClientOptions = {}) {
    super(createTransport(options))
  }
}

export { Call, type WithResponse } from './core/call.ts'
export {
  AuthenticationError,
  CapError,
  ConflictError,
  ConnectionError,
  CountersignError,
  type FieldError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  type Problem,
  RateLimitError,
  ServerError,
  TimeoutError,
  UnexpectedResponseError,
} from './core/errors.ts'
export type { CallOptions, ClientOptions, Fetch, UploadOptions } from './core/options.ts'
export { Lines, type PageOf, Pages } from './core/pages.ts'
export type { Items, Uploadable } from './core/uploads.ts'
export type { Progress } from './core/watched.ts'
export type * from './generated/types.ts'
