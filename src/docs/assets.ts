// The only files that our pages load: read once, named by a hash of their content. Names are keys of a table and never
// paths of a folder.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Failure } from '#src/failure.ts'
import type { Answer } from '#src/platform/http/endpoint.ts'
import { type Prepared, prepare } from './prepared.ts'

const { resolve } = createRequire(import.meta.url)

const PICTURES = new URL('../../docs/start/pictures/', import.meta.url)
// What another file imports stands before it.
const SOURCES = {
  'copy.js': new URL('./browser/copy.js', import.meta.url),
  'explorer.js': new URL('./browser/explorer.js', import.meta.url),
  'search.js': new URL('./browser/search.js', import.meta.url),
  'minisearch.js': fileURLToPath(import.meta.resolve('minisearch')),
  'stemmer.js': fileURLToPath(import.meta.resolve('stemmer')),
  'tabs.js': new URL('./browser/tabs.js', import.meta.url),
  'guides.js': new URL('./browser/guides.js', import.meta.url),
  'pages.css': new URL('./browser/pages.css', import.meta.url),
  'swagger-ui-bundle.js': resolve('swagger-ui-dist/swagger-ui-bundle.js'),
  'swagger-ui.css': resolve('swagger-ui-dist/swagger-ui.css'),
  'overview-light.webp': new URL('overview-light.webp', PICTURES),
  'cases-light.webp': new URL('cases-light.webp', PICTURES),
  'case-light.webp': new URL('case-light.webp', PICTURES),
  'case-dark.webp': new URL('case-dark.webp', PICTURES),
  'claim-dark.webp': new URL('claim-dark.webp', PICTURES),
  'batch-light.webp': new URL('batch-light.webp', PICTURES),
} as const

export type AssetName = keyof typeof SOURCES

const TYPES = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', webp: 'image/webp' } as const
// Changed content gets another name.
const FOR_EVER = 'public, max-age=31536000, immutable'

export interface Assets {
  /** The name under which it is served: `pages.1f0c2b3a4d5e6f70.css`. */
  nameOf(name: AssetName): string
  /** The same for a picture of a guide by its file; undefined where it is not served. */
  nameOfPicture(file: string): string | undefined
  /** @throws {Failure} `not_found`. */
  answer(servedName: string, acceptEncoding: string | string[] | undefined): Promise<Answer>
}

export function createAssets(): Assets {
  const names = new Map<AssetName, string>()
  const byServedName = new Map<string, Prepared>()
  for (const name of Object.keys(SOURCES) as AssetName[]) {
    const at = name.lastIndexOf('.')
    const [stem, type] = [name.slice(0, at), name.slice(at + 1) as keyof typeof TYPES]
    const bytes = readFileSync(SOURCES[name])
    const content = type === 'webp' ? bytes : withServedNames(bytes.toString(), names)
    const prepared = prepare(content, { 'Content-Type': TYPES[type], 'Cache-Control': FOR_EVER })
    const servedName = `${stem}.${prepared.digest}.${type}`
    names.set(name, servedName)
    byServedName.set(servedName, prepared)
  }
  return {
    nameOf: (name) => names.get(name) ?? name,
    nameOfPicture: (file) => (file.endsWith('.webp') ? names.get(file as AssetName) : undefined),
    async answer(servedName, acceptEncoding) {
      const prepared = byServedName.get(servedName)
      if (prepared === undefined) throw new Failure('not_found', 'There is no such file.')
      return prepared.answer(acceptEncoding)
    },
  }
}

// Our modules import each other by the names of their files.
function withServedNames(text: string, names: ReadonlyMap<AssetName, string>): string {
  return [...names].reduce(
    (one, [name, served]) =>
      one
        .replaceAll(`from './${name}'`, `from './${served}'`)
        .replaceAll(`import('./${name}')`, `import('./${served}')`),
    text,
  )
}
