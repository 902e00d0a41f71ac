// The identity provider of an account. A change of issuer, client or domain is a change of whom the account trusts with its users:
// what the first login proved no longer counts, links to subjects end, and every owner is told by mail.

import { randomBytes } from 'node:crypto'
import { recordAudit } from '#src/account/audit/record.ts'
import { endSessionsOfDomain } from '#src/account/sessions/own-rows.ts'
import { readActors } from '#src/account/users/actors.ts'
import { unlinkSubjects } from '#src/account/users/sso-rows.ts'
import { lockTeam } from '#src/account/users/team-rows.ts'
import { Failure, fieldFailure, invalidField } from '#src/failure.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { SealedColumn } from '#src/platform/crypto/sealed-columns.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { ActorView } from '#src/platform/http/actor.ts'
import { checkVersion } from '#src/platform/http/documents.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { newAccountId, type Scope } from '#src/platform/ids.ts'
import type { TxtLookup } from '#src/platform/net/lookup.ts'
import { tellOwners } from './changed-mail.ts'
import { checkDomain, normalizeDomain, recordOf } from './domain.ts'
import { ProviderError, unavailable } from './problems.ts'
import type { Providers } from './provider.ts'
import { deleteConfig, findConfig, lockConfig, putConfig, type SsoConfig } from './rows.ts'

export interface WantedConfig {
  issuer: string
  clientId: string
  /** Kept when absent, where issuer and client stay: another issuer must not be sent it. */
  clientSecret: string | undefined
  domain: string
  isEnforced: boolean
}

export type ShownConfig = SsoConfig & { changer: ActorView }

interface ConfigurationDeps {
  db: Pick<Database, 'tenant'>
  now: () => Date
  sealer: Sealer
  providers: Pick<Providers, 'check'>
  lookupTxt: TxtLookup
}

export const SEALED_CLIENT_SECRET: SealedColumn = {
  table: 'sso_configs',
  column: 'sealed_client_secret',
  of: 'account',
  id: 'id',
  use: ({ id = '' }) => useOf(id),
}

// A sealed secret that is copied to another row doesn't open there.
function useOf(id: string): string {
  return `sso client secret ${id}`
}

/** @throws {Error} when the master key is missing or the row was tampered with. */
export function openClientSecret(sealer: Sealer, { id, sealedClientSecret }: SsoConfig): string {
  return sealer.open(sealedClientSecret, useOf(id)).toString()
}

export type Configuration = ReturnType<typeof createConfiguration>

export function createConfiguration({ db, now, sealer, providers, lookupTxt }: ConfigurationDeps) {
  async function show(tx: Tx, config: SsoConfig): Promise<ShownConfig> {
    const actor = await readActors(tx, [config.changedBy])
    return { ...config, changer: actor(config.changedBy) }
  }

  /** @throws {Failure} `not_found` */
  async function get(scope: Scope): Promise<ShownConfig> {
    return db.tenant(scope, async (tx) => show(tx, known(await findConfig(tx, scope.accountId))))
  }

  /**
   * @throws {Failure} `invalid_request` at `/issuer`, `/client_secret`, `/domain`; `provider_unavailable`; `not_ready` where
   * enforcement comes before the first login; `precondition_failed`.
   */
  async function put(
    by: Acting,
    wanted: WantedConfig,
    { key, expected }: { key: IdempotencyKey | undefined; expected: readonly number[] | undefined },
  ): Promise<ShownConfig> {
    const domain = normalizeDomain(wanted.domain)
    if (domain === undefined) throw invalidField('/domain', 'invalid_format', 'must be a domain such as acme.example')
    const { accountId } = by
    const { issuer, clientId } = wanted
    await providers.check({ accountId, generation: 0, issuer, clientId }).catch((error: unknown) => {
      throw error instanceof ProviderError ? unavailable(error) : error
    })
    const replace = async (tx: Tx): Promise<SsoConfig> => {
      await lockTeam(tx, accountId)
      const before = await lockConfig(tx, accountId)
      checkVersion(expected, { version: before?.version ?? 0 })
      const at = now()
      const after = changed(by, before, { ...wanted, domain }, at)
      await putConfig(tx, after)
      const isOther = before !== undefined && isOtherProvider(before, after)
      if (isOther) await unlinkSubjects(tx, accountId)
      if (before !== undefined && (isOther || before.domain !== domain)) await tellOwners(tx, by, after)
      const sessionsEnded =
        after.isEnforced && before?.isEnforced !== true ? await endSessionsOfDomain(tx, { accountId, domain }, at) : 0
      await recordAudit(tx, by, {
        action: 'sso.configured',
        subjectId: after.id,
        ...(before !== undefined && { before: factsOf(before) }),
        after: { ...factsOf(after), sessions_ended: sessionsEnded },
        isScoped: false,
      })
      return after
    }
    return db.tenant(by, async (tx) => show(tx, await once(tx, key, replace, ({ id }) => id)))
  }

  function changed(by: Acting, before: SsoConfig | undefined, wanted: WantedConfig, at: Date): SsoConfig {
    const { issuer, clientId, clientSecret, domain, isEnforced } = wanted
    const isSame = before !== undefined && !isOtherProvider(before, { issuer, clientId })
    const isSameDomain = before?.domain === domain
    if (clientSecret === undefined && !isSame) {
      throw invalidField('/client_secret', 'required', 'is required with a new issuer or client')
    }
    const testedAt = isSame && isSameDomain ? before.testedAt : null
    if (isEnforced && testedAt === null) {
      throw new Failure(
        'not_ready',
        'Single sign-on can be enforced once a user has signed in with this issuer, client and domain.',
      )
    }
    const id = before?.id ?? newAccountId('sso')
    const secret =
      clientSecret !== undefined || before === undefined
        ? {
            sealedClientSecret: sealer.seal(Buffer.from(clientSecret ?? ''), useOf(id)),
            clientSecretLast4: (clientSecret ?? '').slice(-4),
          }
        : { sealedClientSecret: before.sealedClientSecret, clientSecretLast4: before.clientSecretLast4 }
    return {
      accountId: by.accountId,
      id,
      issuer,
      clientId,
      ...secret,
      generation: (before?.generation ?? 0) + (isSame ? 0 : 1),
      domain,
      domainToken: isSameDomain ? before.domainToken : randomBytes(18).toString('hex'),
      verifiedAt: isSameDomain ? before.verifiedAt : null,
      checkedAt: isSameDomain ? before.checkedAt : null,
      failedChecks: isSameDomain ? before.failedChecks : 0,
      testedAt,
      isEnforced,
      version: (before?.version ?? 0) + 1,
      changedAt: at,
      changedBy: actorOf(by.principal).id,
    }
  }

  /** @throws {Failure} `not_found`, `not_ready`, `conflict` where another organization has the domain. */
  async function verifyDomain(by: Acting, key: IdempotencyKey | undefined): Promise<ShownConfig> {
    const { accountId } = by
    const asked = await get(by)
    const check = await checkDomain(lookupTxt, asked)
    const note = async (tx: Tx): Promise<SsoConfig> => {
      await lockTeam(tx, accountId)
      const found = known(await lockConfig(tx, accountId))
      if (check !== 'found' || found.domainToken !== asked.domainToken) throw notVerified(found, check)
      const at = now()
      const after = { ...found, verifiedAt: found.verifiedAt ?? at, checkedAt: at, failedChecks: 0 }
      await putConfig(tx, after)
      await recordAudit(tx, by, {
        action: 'sso.domain_verified',
        subjectId: found.id,
        after: { domain: found.domain },
        isScoped: false,
      })
      return after
    }
    const work = (tx: Tx) => once(tx, key, note, ({ id }) => id)
    return db
      .tenant(by, async (tx) => show(tx, await work(tx)))
      .catch((error: unknown) => {
        throw isTaken(error) ? takenDomain(asked.domain) : error
      })
  }

  /** @throws {Failure} `not_found` */
  async function remove(by: Acting, key: IdempotencyKey | undefined): Promise<string> {
    const { accountId } = by
    const end = async (tx: Tx): Promise<string> => {
      await lockTeam(tx, accountId)
      const found = known(await lockConfig(tx, accountId))
      await deleteConfig(tx, accountId)
      await unlinkSubjects(tx, accountId)
      await tellOwners(tx, by, found)
      await recordAudit(tx, by, {
        action: 'sso.removed',
        subjectId: found.id,
        before: factsOf(found),
        isScoped: false,
      })
      return found.id
    }
    return db.tenant(by, (tx) => once(tx, key, end, (id) => id))
  }

  return { get, put, verifyDomain, remove }
}

function isOtherProvider(
  before: Pick<SsoConfig, 'issuer' | 'clientId'>,
  after: Pick<SsoConfig, 'issuer' | 'clientId'>,
): boolean {
  return before.issuer !== after.issuer || before.clientId !== after.clientId
}

function factsOf({ issuer, clientId, domain, isEnforced }: SsoConfig) {
  return { issuer, client_id: clientId, domain, enforce_sso: isEnforced }
}

function known(config: SsoConfig | undefined): SsoConfig {
  if (config !== undefined) return config
  throw new Failure('not_found', 'Single sign-on is not configured: PUT /v1/auth/sso/config does it.')
}

function notVerified(config: SsoConfig, check: string): Failure {
  const { name, value } = recordOf(config)
  const found =
    check === 'unanswered' ? 'The name servers of the domain did not answer.' : 'The record is not there yet.'
  return new Failure('not_ready', `${found} ${name} needs a TXT record with the value ${value}.`)
}

function takenDomain(domain: string): Failure {
  return fieldFailure('conflict', {
    pointer: '/domain',
    code: 'domain_elsewhere',
    detail: `${domain} is the verified domain of another organization`,
  })
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && 'constraint' in error && error.constraint === 'sso_configs_verified_domain_key'
}
