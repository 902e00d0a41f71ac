import { z } from 'zod'
import { timestampView as time } from '#src/platform/http/views.ts'
import { ALGORITHM_NAMES } from './authenticator-data.ts'
import { creationOptions, requestOptions } from './options.ts'
import type { PasskeyRow } from './rows.ts'

export const passkeyView = z
  .object({
    passkey_id: z.string(),
    name: z.string(),
    credential_id: z.string().meta({ description: 'Credential id in base64url.' }),
    algorithm: z.enum(ALGORITHM_NAMES).meta({ id: 'PasskeyAlgorithm' }),
    aaguid: z.string().meta({ description: 'Model of the authenticator; zeros where it is unknown.' }),
    transports: z
      .array(z.string())
      .meta({ description: 'Transports that the browser reported: `internal`, `usb`, `hybrid`.' }),
    backup_eligible: z
      .boolean()
      .meta({ description: 'true: the passkey may be copied to other devices of its owner.' }),
    backed_up: z
      .boolean()
      .meta({ description: 'Whether the passkey was backed up at its last use, or when it was registered.' }),
    counter: z
      .number()
      .int()
      .meta({ description: 'Counter of the last use; always 0 where the authenticator does not count.' }),
    created_at: time,
    last_used_at: time.nullable(),
  })
  .meta({ id: 'Passkey' })

export const registrationView = z
  .object({
    expires_at: time,
    options: creationOptions.meta({
      description:
        'Options for PublicKeyCredential.parseCreationOptionsFromJSON, and then navigator.credentials.create.',
    }),
  })
  .meta({ id: 'PasskeyRegistration' })

export const challengeView = z
  .object({
    challenge_id: z.string(),
    challenge: z.string().meta({
      description:
        'base64url of SHA-256 of the canonical JSON of action_hash, payload_hash, agent_session_id, device_id and a nonce.',
    }),
    expires_at: time,
    options: requestOptions.meta({
      description: 'Options for PublicKeyCredential.parseRequestOptionsFromJSON, and then navigator.credentials.get.',
    }),
  })
  .meta({ id: 'PasskeyChallenge' })

export const deletedPasskeyView = z
  .object({ passkey_id: z.string(), deleted: z.literal(true) })
  .meta({ id: 'DeletedPasskey' })

export function toPasskeyView(row: PasskeyRow): z.input<typeof passkeyView> {
  return {
    passkey_id: row.id,
    name: row.name,
    credential_id: row.credentialId.toString('base64url'),
    algorithm: row.algorithm,
    aaguid: row.aaguid,
    transports: row.transports,
    backup_eligible: row.isBackupEligible,
    backed_up: row.isBackedUp,
    counter: row.counter,
    created_at: row.createdAt.toISOString(),
    last_used_at: row.lastUsedAt?.toISOString() ?? null,
  }
}
