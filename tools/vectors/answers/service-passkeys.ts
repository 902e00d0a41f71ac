import { readAlgorithm, readAuthenticatorFacts, readMap } from '#src/authorize/passkeys/authenticator-data.ts'
import { assertionResponse, registrationResponse } from '#src/authorize/passkeys/bodies.ts'
import { verifyPasskeyAssertion, verifyRegistration } from '#src/authorize/passkeys/ceremony.ts'
import { Failure } from '#src/failure.ts'
import type { Answers } from '../answers.ts'
import type { AssertionInput } from '../made/passkeys.ts'

interface Ceremony {
  challenge: string
  clientDataJSON: string
}

export interface CeremoniesInput {
  rp_id: string
  origin: string
  registration: Ceremony & { credential_id: string; attestationObject: string }
  authentication: Ceremony & { authenticatorData: string; signature: string }
}

const bytes = (text: string) => Buffer.from(text, 'base64url')

export const answers: Answers = {
  async 'passkeys/assertions'({ rp_id: id, origins, challenge, credential, response }: AssertionInput) {
    const known = {
      credentialId: bytes(credential.id),
      publicKey: bytes(credential.public_key),
      algorithm: credential.algorithm,
      isBackupEligible: credential.backup_eligible,
    }
    const expected = { rp: { id, origins }, challenge: bytes(challenge), pointer: '' }
    return { answer: await answerOf(() => verifyPasskeyAssertion(assertionResponse.parse(response), known, expected)) }
  },

  async 'passkeys/w3c'({ rp_id, origin, registration, authentication }: CeremoniesInput) {
    const rp = { id: rp_id, origins: [origin] }
    const id = registration.credential_id
    const credential = { id, rawId: id, type: 'public-key' }
    const registered = registrationResponse.parse({ ...credential, response: registration })
    const expected = { rp, challenge: bytes(registration.challenge), pointer: '' }
    return {
      registration: await answerOf(() => verifyRegistration(registered, expected)),
      authentication: await authenticate(),
    }

    async function authenticate(): Promise<string> {
      const authData = readMap(bytes(registration.attestationObject))?.get('authData') as Uint8Array
      const facts = readAuthenticatorFacts(Buffer.from(authData))
      if (facts?.credential === undefined) throw new Error('the registration has no credential')
      const { publicKey, id: credentialId } = facts.credential
      if (credentialId.toString('base64url') !== id) throw new Error('the registration has another credential')
      const key = readAlgorithm(publicKey)
      if (typeof key === 'string') return 'unsupported_key'
      const known = { credentialId, publicKey, isBackupEligible: facts.isBackupEligible, ...key }
      const asserted = assertionResponse.parse({ ...credential, response: authentication })
      const challenge = bytes(authentication.challenge)
      return answerOf(() => verifyPasskeyAssertion(asserted, known, { rp, challenge, pointer: '' }))
    }
  },
}

async function answerOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work()
    return 'accepted'
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return error.errors?.[0]?.code ?? error.code
  }
}
