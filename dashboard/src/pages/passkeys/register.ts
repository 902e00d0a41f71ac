// Makes a passkey on a device of the person, and registers it with what the device answered.

import type { Passkey, RegisterPasskeyRequest } from '@countersign/client'
import { startRegistration, WebAuthnError } from '@simplewebauthn/browser'
import type { Client } from '../../recipe/list-page.tsx'

/** @throws {Error} with a sentence for the person when the browser or the device refuses. */
export async function register(client: Client, name: string, options: { idempotencyKey: string }): Promise<Passkey> {
  // A challenge works once, so each try begins with another one.
  const { options: asked } = await client.passkeys.beginRegistration()
  const response = await startRegistration({ optionsJSON: asked as never }).catch((error: unknown) => {
    throw new Error(sentenceOf(error, asked.rp.id), { cause: error })
  })
  return await client.passkeys.register({ name, response: response as RegisterPasskeyRequest['response'] }, options)
}

// Browsers do not tell a page whether the person or the device refused.
function sentenceOf(error: unknown, host: string): string {
  const name = error instanceof WebAuthnError && error.cause instanceof Error ? error.cause.name : (error as Error).name
  if (name === 'InvalidStateError') return 'This device has a passkey for you already.'
  if (name === 'SecurityError') return `Open this page at the host ${host}: passkeys belong to it.`
  return 'No passkey was made: the device or you refused, or it took too long.'
}
