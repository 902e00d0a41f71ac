import { isIP } from 'node:net'
import { z } from 'zod'
import { defineConfig, list, readableBy, type SettingsOf } from '#src/platform/config-keys.ts'

export type PasskeySettings = SettingsOf<typeof passkeysConfig>

/** Who asks for passkeys (WebAuthn: relying party). */
export interface RelyingParty {
  /** A host name. A passkey is valid for one of them only, so that no other site can ask for it. */
  id: string
  /** Of the pages and apps in which people use their passkeys. */
  origins: readonly string[]
}

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/
// Of an Android app: the SHA-256 of the certificate that signs it.
const ANDROID_APP = /^android:apk-key-hash:[A-Za-z0-9_-]{43}$/

export const passkeysConfig = defineConfig({
  title: 'Passkeys',
  keys: {
    WEBAUTHN_RP_ID: z
      .string()
      .refine((name) => HOST_NAME.test(name) && isIP(name) === 0, 'must be a host name in lower case, without a port')
      .optional()
      .describe(
        'The host name that passkeys belong to; without it that of BASE_URL. Another one makes every passkey useless.',
      ),
    WEBAUTHN_ORIGINS: readableBy(list, (origins) => origins.map(readOrigin)).describe(
      'Origins of the pages and apps that use passkeys; without it that of BASE_URL. Separated by commas.',
    ),
  },
  problems({ WEBAUTHN_RP_ID: id, WEBAUTHN_ORIGINS: origins = '', BASE_URL, HOST = '127.0.0.1', PORT = '8080' }) {
    if (id === undefined && origins === '') return []
    const baseUrl = BASE_URL ?? `http://${HOST}:${PORT}`
    // Without an address the defaults have none either, and BASE_URL says what is wrong with it.
    if (!URL.canParse(baseUrl)) return []
    const named = origins.split(',').map((origin) => origin.trim())
    const rp = relyingPartyOf({ WEBAUTHN_RP_ID: id, WEBAUTHN_ORIGINS: named.filter((one) => one !== '') }, baseUrl)
    return rp.origins
      .filter((origin) => !isOf(origin, rp.id))
      .map(
        (origin) => `${origins === '' ? 'WEBAUTHN_RP_ID' : 'WEBAUTHN_ORIGINS'}: ${origin} is not of the host ${rp.id}`,
      )
  },
})

/** The given keys, or what the public address says. */
export function relyingPartyOf(
  {
    WEBAUTHN_RP_ID: given,
    WEBAUTHN_ORIGINS: origins,
  }: { WEBAUTHN_RP_ID?: string | undefined; WEBAUTHN_ORIGINS: readonly string[] },
  baseUrl: string,
): RelyingParty {
  const url = new URL(baseUrl)
  // Browsers accept no address as a relying party; this machine has a name.
  const isThisMachine = /^(127\.|\[::1\]$|0\.0\.0\.0$)/.test(url.hostname)
  if (isThisMachine) url.hostname = 'localhost'
  return { id: given ?? url.hostname, origins: origins.length > 0 ? origins : [url.origin] }
}

/** @throws {Error} */
function readOrigin(text: string): void {
  if (ANDROID_APP.test(text)) return
  const url = URL.parse(text)
  if (url?.origin !== text) throw new Error(`must be origins such as https://claims.example.com, and ${text} is none`)
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLocal(url.hostname))) return
  throw new Error(`must be https, and ${text} is not`)
}

function isLocal(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost')
}

// WebAuthn 5.1.3: the relying party is the host of the page, or a domain above it.
function isOf(origin: string, id: string): boolean {
  if (ANDROID_APP.test(origin)) return true
  const host = URL.parse(origin)?.hostname
  return host === id || host?.endsWith(`.${id}`) === true
}
