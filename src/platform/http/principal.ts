// Who makes a request: an API key, a user's session, or the directory of an organization. Everything that asks who acts, or what they may do, asks here.

import type { GrantableScope, KeyScope, Product, Role } from '#src/catalogue/access.ts'
import { Failure } from '#src/failure.ts'
import type { Scope } from '#src/platform/ids.ts'

export type Principal =
  | {
      kind: 'key'
      keyId: string
      /** `all` (sandbox keys only) satisfies every scope. */
      scopes: readonly GrantableScope[]
      /** Narrowed to the routes of these; undefined: those of every product. */
      products?: readonly Product[] | undefined
      /** It calls routes that read, and no others. */
      isReadOnly?: boolean
    }
  | {
      kind: 'session'
      sessionId: string
      userId: string
      role: Role
      /** Its link proved no address: it changes nothing of the live environment or of the whole account. */
      isSandboxOnly: boolean
    }
  /** The directory of an organization, which calls the routes of SCIM and no others. */
  | { kind: 'directory'; tokenId: string }

/** The principal of a route that takes keys or sessions. */
export type KeyOrSession = Exclude<Principal, { kind: 'directory' }>

export function credentialOf(principal: Principal): KeyOrSession {
  if (principal.kind === 'directory') throw new Error('a directory calls the routes of SCIM only')
  return principal
}

/** Origin of a request, for the audit log. */
export interface Origin {
  ip: string
  userAgent: string | null
}

/** Account in which a change is made, its actor, and its origin. */
export interface Acting extends Scope {
  principal: Principal
  /** Undefined for what the service does by itself later. */
  origin?: Origin | undefined
}

/** A principal whose request may be refused. Without an environment: a session whose request has named none yet. */
export type Refused = Omit<Acting, 'environment'> & { environment?: Acting['environment'] | undefined }

/** The principal as histories, versions, events and logs name it. */
export interface Actor<Person extends string | null = string | null> {
  /** The key or the user, or `directory`. The id contains no personal data, so events and logs may have it. */
  id: string
  /** The user of a session. With a key: the person whom its caller names, null where it names none. */
  person: Person
  /** null: a session. */
  keyId: string | null
}

/** @param named User id given in the request. A session acts for its own user only, whatever the request says. */
export function actorOf(principal: Principal, named: string): Actor<string>
export function actorOf(principal: Principal, named?: string): Actor
export function actorOf(principal: Principal, named?: string): Actor {
  if (principal.kind === 'session') return { id: principal.userId, person: principal.userId, keyId: null }
  if (principal.kind === 'directory') return { id: 'directory', person: null, keyId: null }
  return { id: principal.keyId, person: named ?? null, keyId: principal.keyId }
}

/** Specification, Accounts and users: API keys act with owner authority within their scopes. */
export function roleOf(principal: Principal): Role {
  if (principal.kind === 'directory') throw new Error('a directory has no role')
  return principal.kind === 'key' ? 'owner' : principal.role
}

/** Scopes are those of keys: a session has none. */
export function hasScope(principal: Principal, scope: KeyScope): boolean {
  return principal.kind === 'key' && (principal.scopes.includes(scope) || principal.scopes.includes('all'))
}

/**
 * Routes of the account belong to no product: a narrowed key calls those of its scopes.
 * @throws {Failure} `insufficient_scope`
 */
export function checkProducts(
  { products: own }: Extract<Principal, { kind: 'key' }>,
  { products, scope }: { products?: readonly Product[] | undefined; scope?: KeyScope | undefined },
): void {
  if (own === undefined || products === undefined || products.some((name) => own.includes(name))) return
  throw new Failure('insufficient_scope', {
    detail: `This API key is narrowed to the products ${own.join(', ')}, and this is of ${products.join(' and ')}.`,
    members: { required_scope: scope, required_products: products },
  })
}
