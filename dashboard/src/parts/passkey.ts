// A passkey signs a challenge of the service, which is bound to one act and its content.

import type { PasskeyAssertion, PasskeyChallenge } from '@countersign/client'
import { startAuthentication } from '@simplewebauthn/browser'

/** Why a passkey did not sign, for people. */
export class NotSigned extends Error {}

/** @throws {NotSigned} */
export async function signChallenge({
  challengeId,
  options,
}: Pick<PasskeyChallenge, 'challengeId' | 'options'>): Promise<PasskeyAssertion> {
  try {
    const { id, rawId, response, authenticatorAttachment } = await startAuthentication({
      optionsJSON: options as Parameters<typeof startAuthentication>[0]['optionsJSON'],
    })
    return { challengeId, response: { id, rawId, type: 'public-key', authenticatorAttachment, response } }
  } catch (error) {
    throw new NotSigned(whyNot(error, options.rpId), { cause: error })
  }
}

// Browsers do not tell a page whether the person or the device refused.
function whyNot(error: unknown, host: string): string {
  if (error instanceof Error && error.name === 'SecurityError') {
    return `Open this page at the host ${host}: passkeys belong to it.`
  }
  return 'No passkey confirmed it: there is none on this device, the device or you refused, or it took too long.'
}
