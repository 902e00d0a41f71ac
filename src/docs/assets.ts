// The files that our pages load, and no others: read once, named by what is in them, compressed once. A name is looked up
// in a table and never in a folder.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { brotliCompress, gzip, constants as zlib } from 'node:zlib'
import { Failure } from '#src/failure.ts'
import { sha256Hex } from '#src/platform/crypto/digest.ts'
import type { Answer } from '#src/platform/http/endpoint.ts'
import { chooseCoding } from '#src/platform/http/represent.ts'

const { resolve } = createRequire(import.meta.url)

const SOURCES = {
  'explorer.js': new URL('./browser/explorer.js', import.meta.url),
  'pages.css': new URL('./browser/pages.css', import.meta.url),
  'swagger-ui-bundle.js': resolve('swagger-ui-dist/swagger-ui-bundle.js'),
  'swagger-ui.css': resolve('swagger-ui-dist/swagger-ui.css'),
} as const

export type AssetName = keyof typeof SOURCES

const TYPES = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' } as const
const BROTLI = { params: { [zlib.BROTLI_PARAM_QUALITY]: 9, [zlib.BROTLI_PARAM_MODE]: zlib.BROTLI_MODE_TEXT } }
// Another content has another name.
const FOR_EVER = 'public, max-age=31536000, immutable'

export interface Assets {
  /** The name under which it is served: `pages.1f0c2b3a4d5e6f70.css`. */
  nameOf(name: AssetName): string
  /** @throws {Failure} `not_found`. */
  answer(servedName: string, acceptEncoding: string | string[] | undefined): Promise<Answer>
}

const brotliAside = promisify<string | Buffer, typeof BROTLI, Buffer>(brotliCompress)
const gzipAside = promisify<string | Buffer, Buffer>(gzip)

export function createAssets(): Assets {
  const assets = new Map((Object.keys(SOURCES) as AssetName[]).map((name) => [name, readAsset(name)]))
  const byServedName = new Map([...assets.values()].map((asset) => [asset.servedName, asset]))
  return {
    nameOf: (name) => assets.get(name)?.servedName ?? name,
    async answer(servedName, acceptEncoding) {
      const asset = byServedName.get(servedName)
      if (asset === undefined) throw new Failure('not_found', 'There is no such file.')
      const coding = chooseCoding(acceptEncoding)
      const headers = {
        'Content-Type': asset.contentType,
        'Cache-Control': FOR_EVER,
        ETag: `W/"${asset.digest}"`,
        Vary: 'Accept-Encoding',
      }
      if (coding === undefined) return { status: 200, headers, text: asset.bytes }
      // The largest takes a third of a second, once in the life of a process.
      asset.encoded[coding] ??= coding === 'br' ? brotliAside(asset.bytes, BROTLI) : gzipAside(asset.bytes)
      const text = await asset.encoded[coding]
      return { status: 200, headers: { ...headers, 'Content-Encoding': coding }, text }
    },
  }
}

interface Asset {
  servedName: string
  contentType: string
  digest: string
  bytes: Buffer
  encoded: { br?: Promise<Buffer>; gzip?: Promise<Buffer> }
}

function readAsset(name: AssetName): Asset {
  const bytes = readFileSync(SOURCES[name])
  const digest = sha256Hex(bytes).slice(0, 16)
  const [, stem = '', type = ''] = /^(.*)\.(js|css)$/.exec(name) ?? []
  return {
    servedName: `${stem}.${digest}.${type}`,
    contentType: type === 'js' ? TYPES.js : TYPES.css,
    digest,
    bytes,
    encoded: {},
  }
}
