// The source for phones in docs/attest/phone.md: Kotlin is compiled and signs a capture, Swift is parsed. Its Python runs with
// the other guides.

import { execFile } from 'node:child_process'
import { createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { canonicalize, type Json } from '#client/verify.ts'
import { blocksOf, missingTools } from '../support/guide.ts'
import { findKotlin } from '../support/kotlin.ts'

const FILE = 'docs/attest/phone.md'
const blocks = blocksOf(FILE, readFileSync(resolve(import.meta.dirname, '../..', FILE), 'utf8'))
const folder = mkdtempSync(join(tmpdir(), 'countersign-phone-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const kotlin = await findKotlin()

// The members of Android's classes that the page uses.
const ANDROID = `package android.security.keystore
import java.security.spec.AlgorithmParameterSpec
object KeyProperties {
    const val PURPOSE_SIGN = 4
    const val DIGEST_SHA256 = "SHA-256"
    const val AUTH_BIOMETRIC_STRONG = 2
    const val KEY_ALGORITHM_EC = "EC"
}
class KeyGenParameterSpec private constructor() : AlgorithmParameterSpec {
    @Suppress("UNUSED_PARAMETER")
    class Builder(alias: String, purposes: Int) {
        fun setAlgorithmParameterSpec(spec: AlgorithmParameterSpec) = this
        fun setDigests(vararg digests: String) = this
        fun setUserAuthenticationRequired(isRequired: Boolean) = this
        fun setUserAuthenticationParameters(timeout: Int, type: Int) = this
        fun setAttestationChallenge(challenge: ByteArray) = this
        fun build() = KeyGenParameterSpec()
    }
}
`
// Prints a body and a canonical form.
const MAIN = `import java.io.File
import java.security.KeyFactory
import java.security.Signature
import java.security.spec.PKCS8EncodedKeySpec
import java.time.Instant
fun main(words: Array<String>) {
    val key = KeyFactory.getInstance("EC").generatePrivate(PKCS8EncodedKeySpec(File(words[0]).readBytes()))
    val signature = Signature.getInstance("SHA256withECDSA").apply { initSign(key) }
    val position = Position(52.5163, -13.0, 4.70000001, false)
    val capture = Capture(
        "photo".toByteArray(), "med_test_1", Instant.ofEpochMilli(1795176000000), position, "face", "dev_test_1", "nonce", "CLM \\"1\\"",
    )
    println(signCapture(capture, signature, listOf(byteArrayOf(1, 2, 3, 4))))
    println(canonicalize(mapOf("b" to listOf(0.0, -0.0, 1e-7, 1e-6, 100.0, 5.0, 179.9999999), "\\ud83d\\ude00" to true, "\\ue000" to "\\n\\u001f/é")))
}
`

describe('the source for phones', () => {
  it.runIf(kotlin !== undefined)(
    'signs in Kotlin what the service verifies (skipped where no compiler is to be had)',
    { timeout: 240_000 },
    async () => {
      const files = blocks.filter(({ language }) => language === 'kotlin').map(({ text }) => text)
      const paths = [...files, ANDROID, MAIN].map((text, index) => {
        const name = /^\/\/ (\w+\.kt)\n/.exec(text)?.[1] ?? `Test${index}.kt`
        writeFileSync(join(folder, name), text)
        return join(folder, name)
      })
      await kotlin?.compile(paths, join(folder, 'classes'))
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      writeFileSync(join(folder, 'key.der'), privateKey.export({ type: 'pkcs8', format: 'der' }))
      const main = paths.at(-1)?.match(/(\w+)\.kt$/)?.[1]
      const printed = await kotlin?.start(join(folder, 'classes'), `${main}Kt`, [join(folder, 'key.der')])
      const [text = '', canonical] = (printed ?? '').split('\n')

      const body = JSON.parse(text) as { bundle: Json; signature: { alg: string; value: string } }
      const { signature, bundle } = body
      const data = Buffer.from(canonicalize(bundle))
      const key = createPublicKey(publicKey.export({ type: 'spki', format: 'pem' }))
      expect(verify('sha256', data, key, Buffer.from(signature.value, 'base64url'))).toBe(true)
      expect(body).toEqual({
        claim: { reference: 'CLM "1"' },
        media_type: 'image',
        media: { media_id: 'med_test_1' },
        bundle: {
          version: 1,
          captured_at: '2026-11-20T12:00:00.000Z',
          sensor_hash: createHash('sha256').update('photo').digest('hex'),
          gps: { lat: 52.5163, lng: -13, accuracy_m: 4.7, mock: false },
          biometric: { gated: true, method: 'face' },
          device_id: 'dev_test_1',
          session_nonce: 'nonce',
        },
        signature: { alg: 'ES256', value: expect.stringMatching(/^[\w-]+$/) },
        certificate_chain: ['AQIDBA=='],
      })
      const rounded = { b: [0, 0, 0, 1e-6, 100, 5, 180], '\u{1f600}': true, '\ue000': '\n\u001f/é' }
      expect(canonical).toBe(canonicalize(rounded))
    },
  )

  it.skipIf(missingTools(['swiftc']).length > 0)(
    'is Swift that the compiler parses (skipped without swiftc)',
    async () => {
      const [swift] = blocks.filter(({ language }) => language === 'swift')
      writeFileSync(join(folder, 'CaptureSigner.swift'), swift?.text ?? '')
      await promisify(execFile)('swiftc', ['-parse', join(folder, 'CaptureSigner.swift')])
    },
  )
})
