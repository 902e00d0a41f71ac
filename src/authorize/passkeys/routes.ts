import { z } from 'zod'
import { boundedText, hashedObject } from '#src/authorize/policy/json-object.ts'
import { hashDescription } from '#src/authorize/tokens/format.ts'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'
import type { Database } from '#src/platform/db/database.ts'
import { endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { once } from '#src/platform/http/idempotency.ts'
import { listQuery } from '#src/platform/http/page.ts'
import { accountIdParams, shownText, visibleText } from '#src/platform/http/params.ts'
import { checkName, type Environment } from '#src/platform/ids.ts'
import type { Assertions, Bound } from './assertions.ts'
import { MAX_NAME_LENGTH, registrationResponse } from './bodies.ts'
import type { Passkeys } from './passkeys.ts'
import { challengeView, deletedPasskeyView, passkeyView, registrationView, toPasskeyView } from './views.ts'

// A payload of 64 KiB in pretty print.
const MAX_BODY_BYTES = 512 * 1024
const MAX_BODY_VALUES = 40_000

const common = { permission: 'passkeys.own', isAccountLevel: true } as const
const params = accountIdParams('psk')
const name = visibleText(MAX_NAME_LENGTH).meta({ description: 'For its owner.' })

const challengeRequest = z.strictObject({
  action_description: shownText(2_000),
  action_payload: hashedObject,
  agent_session_id: z.string().min(1).max(200),
  device_id: z.string().min(1).max(200),
})

interface PasskeyRoutesDeps {
  db: Pick<Database, 'tenant'>
  passkeys: Passkeys
  assertions: Assertions
}

export function passkeyRoutes({ db, passkeys, assertions }: PasskeyRoutesDeps): Route[] {
  const toRegistrationView = ({ options, expiresAt }: Awaited<ReturnType<Passkeys['begin']>>) => ({
    options,
    expires_at: expiresAt.toISOString(),
  })
  return [
    endpoint(
      {
        ...common,
        method: 'POST',
        path: '/v1/passkeys/registration-options',
        operationId: 'beginPasskeyRegistration',
        sdk: 'passkeys.beginRegistration',
        effect: 'write',
        kind: 'call',
        summary: 'Begin to register a passkey',
        view: registrationView,
        status: [200],
      },
      async ({ caller, idempotencyKey }) => toRegistrationView(await passkeys.begin(caller, idempotencyKey)),
      async ({ caller }) => toRegistrationView(await passkeys.findBegun(caller)),
    ),
    endpoint(
      {
        ...common,
        method: 'POST',
        audits: 'passkey.registered',
        path: '/v1/passkeys/register',
        operationId: 'registerPasskey',
        sdk: 'passkeys.register',
        effect: 'write',
        kind: 'call',
        summary: 'Register a passkey with what the authenticator answered',
        body: z.strictObject({ name, response: registrationResponse }),
        view: passkeyView,
        status: [200],
      },
      async ({ caller, body, idempotencyKey }) => toPasskeyView(await passkeys.register(caller, body, idempotencyKey)),
      async ({ caller }, id) => toPasskeyView(await passkeys.get(caller, id)),
    ),
    listEndpoint(
      {
        ...common,
        path: '/v1/passkeys',
        operationId: 'listPasskeys',
        sdk: 'passkeys.list',
        summary: 'List your own passkeys, newest first',
        query: listQuery,
        item: passkeyView,
      },
      ({ caller, query }) => passkeys.list(caller, query),
      toPasskeyView,
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        path: '/v1/passkeys/:id',
        operationId: 'getPasskey',
        sdk: 'passkeys.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'One of your passkeys',
        params,
        view: passkeyView,
        status: [200],
      },
      async ({ caller, params: { id } }) => toPasskeyView(await passkeys.get(caller, id)),
    ),
    endpoint(
      {
        ...common,
        method: 'PATCH',
        audits: 'passkey.renamed',
        path: '/v1/passkeys/:id',
        operationId: 'renamePasskey',
        sdk: 'passkeys.update',
        effect: 'write',
        kind: 'call',
        summary: 'Give one of your passkeys another name',
        params,
        body: z.strictObject({ name }),
        view: passkeyView,
        status: [200],
      },
      async ({ caller, params: { id }, body, idempotencyKey }) =>
        toPasskeyView(await passkeys.rename(caller, { id, name: body.name }, idempotencyKey)),
      async ({ caller, params: { id } }) => toPasskeyView(await passkeys.get(caller, id)),
    ),
    endpoint(
      {
        ...common,
        method: 'DELETE',
        audits: 'passkey.removed',
        // After a device was lost.
        isEmergency: true,
        path: '/v1/passkeys/:id',
        operationId: 'removePasskey',
        sdk: 'passkeys.delete',
        effect: 'destructive',
        kind: 'call',
        summary: 'Remove one of your passkeys. Nothing can be confirmed with it any more.',
        params,
        view: deletedPasskeyView,
        status: [200],
      },
      async ({ caller, params: { id }, idempotencyKey }) => {
        await passkeys.remove(caller, id, idempotencyKey)
        return { passkey_id: id, deleted: true as const }
      },
      async ({ params: { id } }) => ({ passkey_id: id, deleted: true as const }),
    ),
    endpoint(
      {
        method: 'POST',
        scope: 'intent',
        permission: 'intents.write',
        path: '/v1/intent/challenges',
        operationId: 'createPasskeyChallenge',
        sdk: 'intent.challenges.create',
        effect: 'write',
        kind: 'call',
        summary: 'Ask for a challenge by which a person confirms one action with a passkey',
        body: challengeRequest,
        maxBodyBytes: MAX_BODY_BYTES,
        maxBodyValues: MAX_BODY_VALUES,
        view: challengeView,
        status: [200],
      },
      async ({ caller, body, idempotencyKey }) => {
        const bound = boundOf(body, caller.environment)
        return db.tenant(caller, (tx) =>
          once(
            tx,
            idempotencyKey,
            () => assertions.issueChallenge(tx, caller, bound),
            ({ challenge_id: id }) => id,
          ),
        )
      },
      async ({ caller }, id) => assertions.reissueChallenge(caller, id),
    ),
  ]
}

/** @throws {Failure} `environment_mismatch`; `not_found`; `invalid_request` */
function boundOf(body: z.output<typeof challengeRequest>, environment: Environment): Bound {
  return {
    action_hash: hashDescription(body.action_description),
    payload_hash: sha256Base64url(boundedText('/action_payload', body.action_payload)),
    agent_session_id: checkName(body.agent_session_id, environment),
    device_id: checkName(body.device_id, environment),
  }
}
