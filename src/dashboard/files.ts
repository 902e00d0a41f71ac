// The built web page of the dashboard, as `npm run dashboard -- build` leaves it in dashboard/dist. It is read again when
// another build takes its place, so that a service which started before its first build finds it.

import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Answer } from '#src/platform/http/endpoint.ts'
import { chooseCoding } from '#src/platform/http/represent.ts'

export const DIST = fileURLToPath(new URL('../../dashboard/dist/', import.meta.url))

/** What a build wrote: `built.json`, last of all. */
export interface Build {
  /** SHA-256 of everything that the build was made from, in hexadecimal digits. */
  inputs: string
  /** The files below `assets/`, each with the name that a browser asks for. */
  files: readonly string[]
}

/** `operations` is for operators, on the internal port. */
const PAGES = ['index', 'operations'] as const
export type PageName = (typeof PAGES)[number]

export interface DashboardFiles {
  /** A page with a nonce for its styles; undefined without a build. */
  page(name: PageName, nonce: string): string | undefined
  /** A file by its name below `assets/`; undefined where the build has none of that name. */
  asset(name: string, acceptEncoding: string | string[] | undefined): AssetAnswer | undefined
}

type AssetAnswer = Extract<Answer, { text: unknown }>

const TYPES: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  woff2: 'font/woff2',
  json: 'application/json',
  svg: 'image/svg+xml',
  png: 'image/png',
}
const NONCE = '__NONCE__'

interface Read {
  pages: Record<PageName, string>
  names: ReadonlySet<string>
  /** By name and coding, read at their first request. */
  contents: Map<string, Buffer>
}

export function createDashboardFiles(directory = DIST): DashboardFiles {
  let read: Read | undefined
  let marker: string | undefined

  function current(): Read | undefined {
    const file = `${directory}built.json`
    if (!existsSync(file)) return undefined
    const text = readFileSync(file, 'utf8')
    if (text === marker && read !== undefined) return read
    const { files } = JSON.parse(text) as Build
    marker = text
    const pages = Object.fromEntries(PAGES.map((name) => [name, readFileSync(`${directory}${name}.html`, 'utf8')]))
    read = { pages: pages as Record<PageName, string>, names: new Set(files), contents: new Map() }
    return read
  }

  return {
    page: (name, nonce) => current()?.pages[name].replaceAll(NONCE, nonce),
    asset(name, acceptEncoding) {
      const build = read?.names.has(name) ? read : current()
      // Names come from the list of the build, so none leads out of the folder.
      if (build === undefined || !build.names.has(name)) return undefined
      const type = name.slice(name.lastIndexOf('.') + 1)
      const isText = type !== 'woff2' && type !== 'png'
      const coding = isText ? chooseCoding(acceptEncoding) : undefined
      const path = `assets/${name}${coding === undefined ? '' : coding === 'br' ? '.br' : '.gz'}`
      const text = build.contents.get(path) ?? readFileSync(`${directory}${path}`)
      build.contents.set(path, text)
      return {
        status: 200,
        headers: {
          'Content-Type': TYPES[type] ?? 'application/octet-stream',
          // The name has a hash of the content.
          'Cache-Control': 'public, max-age=31536000, immutable',
          Vary: 'Accept-Encoding',
          ...(coding === undefined ? {} : { 'Content-Encoding': coding }),
        },
        text,
      }
    },
  }
}
