// The documents of docs/ as pages: their list, their order and their links. A file is read at the first request for its
// page, and rendered once.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Assets } from './assets.ts'
import { type Rendered, renderMarkdown } from './markdown.ts'

export interface Guide {
  /** Its address below /docs/, and the path of its file without `.md`: `attest/integrate`. */
  name: string
  title: string
  markdown: string
}

export interface Group {
  title: string
  guides: Guide[]
}

export interface Guides {
  groups(): readonly Group[]
  /** Returns the guides in the order of the groups. */
  all(): readonly Guide[]
  decisions(): readonly Guide[]
  find(name: string): Guide | undefined
  /**
   * The guide that an address of one part leads to, as guides had it before docs/ had folders: the first guide of that name,
   * else the first one of the folder.
   */
  findShort(name: string): Guide | undefined
  render(guide: Guide): Rendered
}

const ROOT = new URL('../../', import.meta.url)
/** The address that the guides are written with. */
const WRITTEN_URL = 'http://localhost:8080'
const DECISIONS = 'decisions/'

/** The folders of docs/ that are groups, with their guides, in reading order. A house test names a guide that is missing here. */
export const GUIDES: Record<string, readonly string[]> = {
  start: ['first-requests', 'libraries', 'dashboard'],
  attest: [
    'integrate',
    'events-and-batches',
    'phone',
    'submit',
    'capture-kit',
    'hardware',
    'video',
    'c2pa',
    'screening',
    'duplicates',
    'risk-policy',
    'cases',
    'evidence',
  ],
  authorize: [
    'authorize',
    'guard',
    'reasons',
    'policy',
    'conditions',
    'operators',
    'policy-webhooks',
    'mandates',
    'schedules',
    'approvals',
    'passkeys',
    'clinical',
    'agents',
    'authzen',
    'tokens',
    'ledger',
    'reports',
  ],
  trace: ['trace', 'canaries', 'killswitch', 'attribution', 'diffs', 'shares', 'backends'],
  account: ['keys', 'account', 'login', 'team', 'sso', 'scim', 'plans'],
  webhooks: ['webhooks', 'webhook-delivery'],
  reference: ['api', 'overview', 'analytics', 'mcp'],
  operate: [
    'deploy',
    'configuration',
    'scale',
    'monitor',
    'incidents',
    'upgrade',
    'backup',
    'keys',
    'accounts',
    'limits',
  ],
  assurance: ['faults', 'hostile', 'trials'],
}
// Beside the guides that show them.
const PICTURES = 'pictures/'
/** Guides whose files are not in docs/. */
const ELSEWHERE: Record<string, string> = { 'attest/capture-kit': 'capture-kit/README.md' }

interface GuidesDeps {
  /** Without a trailing slash: it takes the place of the address that the guides are written with. */
  baseUrl: string
  /** The name below `/docs/assets/` of a file in docs/start/pictures; undefined where it is not served. */
  nameOfPicture?: Assets['nameOfPicture']
}

export function createGuides({ baseUrl, nameOfPicture = () => undefined }: GuidesDeps): Guides {
  let read: { groups: Group[]; decisions: Guide[]; byName: Map<string, Guide> } | undefined
  const rendered = new Map<Guide, Rendered>()

  const library = () => {
    read ??= readLibrary(baseUrl)
    return read
  }

  return {
    groups: () => library().groups,
    all: () => library().groups.flatMap(({ guides }) => guides),
    decisions: () => library().decisions,
    find: (name) => library().byName.get(name),
    findShort: (name) => {
      const all = library().groups.flatMap(({ guides }) => guides)
      return (
        all.find((guide) => guide.name.endsWith(`/${name}`)) ?? all.find((guide) => guide.name.startsWith(`${name}/`))
      )
    },
    render(guide) {
      const known = rendered.get(guide)
      if (known !== undefined) return known
      const { byName } = library()
      const made = renderMarkdown(guide.markdown, (target) => {
        const picture = target.startsWith(PICTURES) ? nameOfPicture(target.slice(PICTURES.length)) : undefined
        if (picture !== undefined) return `${pathToRoot(`/docs/${guide.name}`)}docs/assets/${picture}`
        return leadOf(guide.name, target, (name) => byName.has(name))
      })
      rendered.set(guide, made)
      return made
    },
  }
}

/** The address, from one page, of another: `/docs/decisions/0001-x` has two folders to leave. */
export function pathToRoot(path: string): string {
  return '../'.repeat(path.split('/').length - 2) || './'
}

function readLibrary(baseUrl: string) {
  const guideOf = (name: string): Guide => {
    const file = ELSEWHERE[name] ?? `docs/${name}.md`
    const markdown = readFileSync(new URL(file, ROOT), 'utf8').replaceAll(WRITTEN_URL, baseUrl)
    return { name, title: /^# +(.*)$/m.exec(markdown)?.[1]?.replaceAll('`', '') ?? name, markdown }
  }
  const groups = Object.entries(GUIDES).map(([folder, names]) => ({
    title: `${folder.slice(0, 1).toUpperCase()}${folder.slice(1)}`,
    guides: names.map((name) => guideOf(`${folder}/${name}`)),
  }))
  const decisions = namesIn(`docs/${DECISIONS}`)
    .sort()
    .map((name) => guideOf(DECISIONS + name))
  const byName = new Map([...groups.flatMap(({ guides }) => guides), ...decisions].map((guide) => [guide.name, guide]))
  return { groups, decisions, byName }
}

function namesIn(folder: string): string[] {
  const files = exists(folder) ? readdirSync(fileURLToPath(new URL(folder, ROOT))) : []
  return files.filter((file) => file.endsWith('.md')).map((file) => file.slice(0, -'.md'.length))
}

function exists(path = ''): boolean {
  return existsSync(fileURLToPath(new URL(path, ROOT)))
}

// A link of a file, resolved from the file's page. A link to a file that is not served (source, deployment files) is
// dropped.
function leadOf(name: string, target: string, isServed: (name: string) => boolean): string | undefined {
  if (/^(?:https?:\/\/|mailto:)/i.test(target) || target.startsWith('#')) return target
  if (/^[a-z][a-z0-9+.-]*:/i.test(target) || target.startsWith('/')) return undefined
  const [path = '', section] = target.split('#')
  const from = posix.dirname(ELSEWHERE[name] ?? `docs/${name}.md`)
  const file = posix.normalize(posix.join(from, path))
  const elsewhere = Object.keys(ELSEWHERE).find((other) => ELSEWHERE[other] === file)
  const other = elsewhere ?? /^docs\/(.*?)(?:\.md|\/)$/.exec(file)?.[1]
  if (other === undefined || !(isServed(other) || `${other}/` === DECISIONS)) return undefined
  const root = pathToRoot(`/docs/${name}`)
  return `${root}docs/${other}${section === undefined ? '' : `#${section}`}`
}
