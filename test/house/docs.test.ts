import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { MANDATE_CONSTRAINTS } from '#src/authorize/mandates/judge.ts'
import { EVENT_DATA } from '#src/catalogue/events.ts'
import { isQueueName, PROCESS_NAMES, QUEUE_NAMES, QUEUES, retryDelayMs } from '#src/catalogue/queues.ts'
import { describeConfig, readConfig } from '#src/config.ts'
import { createGuides } from '#src/docs/guides.ts'
import { PURPOSE } from '#src/docs/service-notes.ts'
import { FAILURES } from '#src/failure.ts'
import { describeMetrics } from '../support/metrics.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const operate = read('docs/operate.md')
const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'capture-kit/README.md', ...markdownOf('docs')]

// Of each process, beside those of DATABASE_POOL: keys, readiness and leases.
const SYSTEM_CONNECTIONS = 2

const NEEDED = {
  DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
  MASTER_KEY: Buffer.alloc(32).toString('base64'),
  BLOB_STORE: 'disk:none',
}

describe('the documents', () => {
  it('show every key of the configuration with its default and its sentence', () => {
    const shown = rowsOf(operate, /^\| `([A-Z0-9_]+)` +\| (.*?) +\| (.*?) +\|$/gm)
    expect(shown.map(([key]) => key)).toEqual(describeConfig().map(({ key }) => key))
    const defaults: Record<string, unknown> = readConfig(NEEDED)
    for (const [key = '', value, what = ''] of shown) {
      const description = describeConfig().find((entry) => entry.key === key)?.description ?? ''
      expect({ key, value }).toEqual({ key, value: defaultOf(key, defaults[key]) })
      expect(plain(what).startsWith(description), `${key}: ${what}`).toBe(true)
    }
  })

  it('show every metric of ours, and no other', () => {
    const ours = describeMetrics().map(({ name }) => name)
    const shown = rowsOf(operate, /^\| `(countersign_[a-z_]+)` +\|/gm).map(([name]) => name)
    expect(shown.sort()).toEqual(ours.sort())
  })

  it('name every process where operators start, upgrade and count them', () => {
    const rows = rowsOf(sectionOf('Processes'), /^\| `([a-z]+)` +\|/gm).map(([name]) => name)
    const [upgrade = ''] = /^2\. `dispatch` first.*$/m.exec(operate) ?? []
    const [connections = ''] = /With the limits of deploy\/kubernetes: [^.]*\./.exec(operate) ?? []
    const unnamed = {
      Processes: PROCESS_NAMES.filter((name) => !rows.includes(name)),
      Upgrade: PROCESS_NAMES.filter((name) => name !== 'web' && !upgrade.includes(`\`${name}\``)),
      max_connections: PROCESS_NAMES.filter((name) => !new RegExp(`\\d ${name}\\b`).test(connections)),
    }
    expect({ file: 'docs/operate.md', unnamed }).toEqual({
      file: 'docs/operate.md',
      unnamed: { Processes: [], Upgrade: [], max_connections: [] },
    })
  })

  it('add up the connections of the Kubernetes deployment', () => {
    const [, perProcess = '', terms = '', others = '', sum = '', most = ''] =
      /With the limits of deploy\/kubernetes: (\d+) \* \(([^)]*)\) \+ (\d+) = (\d+)\. A `max_connections` of (\d+)/.exec(
        operate,
      ) ?? []
    const shown = rowsOf(terms, /(\d+) ([a-z]+)/g).map(([count, name]) => [name, Number(count)])
    const limits = PROCESS_NAMES.map((name) => [name, podsOf(name)])
    const surges = PROCESS_NAMES.map((name) =>
      Number(/maxSurge: (\d+)/.exec(read(`deploy/kubernetes/${name}.yaml`))?.[1]),
    )
    const pool = Number(/^ {2}DATABASE_POOL: "(\d+)"$/m.exec(read('deploy/kubernetes/settings/config.yaml'))?.[1])
    const surge = surges.reduce((all, one) => all + one, 0)
    expect(Number(perProcess)).toBe(pool + SYSTEM_CONNECTIONS)
    expect(Object.fromEntries(shown)).toEqual({ ...Object.fromEntries(limits), while: surge })
    const pods = limits.reduce((all, [, count]) => all + Number(count), surge)
    expect(Number(sum)).toBe(Number(perProcess) * pods + Number(others))
    expect(Number(most)).toBeGreaterThan(Number(sum))
  })

  it('state once after how many attempts a job is dead, as the table of queues does', () => {
    const shown = rowsOf(operate, /^\| `([a-z]+)` +\| (\d+) +\| (.*?) +\|/gm)
    expect(shown.map(([queue, attempts]) => [queue, Number(attempts)])).toEqual(
      QUEUE_NAMES.map((queue) => [queue, QUEUES[queue].maxAttempts]),
    )
    for (const [name = '', attempts, time = ''] of shown) {
      const minutes = /^(\d+) minutes$/.exec(time)?.[1]
      if (minutes === undefined || !isQueueName(name)) continue
      const pauses = Array.from({ length: Number(attempts) - 1 }, (_, at) => retryDelayMs(name, at + 1, () => 0))
      expect([name, Number(minutes)]).toEqual([name, Math.floor(pauses.reduce((sum, ms) => sum + ms, 0) / 60_000)])
    }
    expect(operate).not.toMatch(/dead after \d|\d+ attempts/)
  })

  it('name every event that is sent', () => {
    const named = /^Sent today: (.*?)\n\n/ms.exec(read('docs/api.md'))?.[1] ?? ''
    expect(Object.keys(EVENT_DATA).filter((type) => !named.includes(`\`${type}\``))).toEqual([])
  })

  it('name everything that the detail of a mandate can name', () => {
    const [, section = ''] = /\n## What is compared\n([\s\S]+?)\n## /.exec(read('docs/mandates.md')) ?? []
    const named = rowsOf(section, /^\| `([a-z_]+)` +\|/gm).map(([name]) => name)
    expect(MANDATE_CONSTRAINTS.filter((name) => !named.includes(name))).toEqual([])
  })

  it('show every error code with its status', () => {
    const shown = new Map<string, number>()
    for (const [codes = '', status] of rowsOf(read('docs/api.md'), /^\| (`.*?) +\| (\d{3}) +\|$/gm)) {
      for (const [, code = ''] of codes.replaceAll(/\([^)]*\)/g, '').matchAll(/`([a-z_]+)`/g))
        shown.set(code, Number(status))
    }
    const known = Object.entries(FAILURES).map(([code, { status }]): [string, number] => [code, status])
    expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(known))
  })

  it('name existing scripts only', () => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'))
    const named = pages.flatMap((page) => rowsOf(read(page), /npm run (?:-s )?([a-z]+)/g).flat())
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([])
  })

  // Decisions also say what was rejected.
  it('install nothing by `npm install`, which resolves what the lock file does not pin', () => {
    const today = pages.filter((page) => !page.startsWith('docs/decisions/'))
    expect(today.filter((page) => read(page).includes('npm install'))).toEqual([])
  })

  it('are each in one group of the guides', () => {
    const guides = createGuides({ baseUrl: 'http://localhost:8080' })
    const listed = guides.all().map(({ name }) => name)
    const written = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'))
    expect(listed.filter((name) => name !== 'capture-kit').sort()).toEqual(
      written.map((name) => name.slice(0, -3)).sort(),
    )
  })

  it('say what the service is for in one sentence', () => {
    const { description }: { description: string } = JSON.parse(read('package.json'))
    expect(description).toBe(PURPOSE)
    expect(read('README.md').replaceAll('\n', ' ')).toContain(`**${PURPOSE}**`)
    expect(read('README.md').split('\n').length).toBeLessThanOrEqual(121)
  })

  it('link to existing pages and sections only', () => {
    const broken = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, target = '']) => target)
        .filter((target) => !/^https?:/.test(target) && !leads(page, target))
        .map((target) => `${page}: ${target}`),
    )
    expect(broken).toEqual([])
  })
})

/** Pods of a process at most: of its autoscaler, or of its Deployment. */
function podsOf(name: string): number {
  const manifest = read(`deploy/kubernetes/${name}.yaml`)
  const [scaled = ''] = read('deploy/kubernetes/scaling.yaml')
    .split(/^---$/m)
    .filter((text) => text.includes(`scaleTargetRef: { name: ${name} }`))
  const [, most] =
    /maxReplicaCount: (\d+)/.exec(scaled) ??
    /maxReplicas: (\d+)/.exec(manifest) ??
    /^ {2}replicas: (\d+)$/m.exec(manifest) ??
    []
  return Number(most)
}

function sectionOf(heading: string): string {
  return new RegExp(`\\n## ${heading}\\n([\\s\\S]+?)\\n## `).exec(operate)?.[1] ?? ''
}

function leads(page: string, target: string): boolean {
  const [path = '', section] = target.split('#')
  const file = path === '' ? page : join(dirname(page), path)
  if (!existsSync(join(ROOT, file))) return false
  return section === undefined || headingsOf(read(file)).includes(section)
}

// Builds anchors from headings as the usual renderers do.
function headingsOf(text: string): string[] {
  return rowsOf(text, /^#+ (.*)$/gm).map(([heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function defaultOf(key: string, value: unknown): string {
  if (key in NEEDED) return 'required'
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return 'none'
  return String(value)
}

function rowsOf(text: string, pattern: RegExp): string[][] {
  return [...text.matchAll(pattern)].map(([, ...groups]) => groups)
}

function plain(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}

function markdownOf(folder: string): string[] {
  return readdirSync(join(ROOT, folder)).flatMap((name) => {
    const file = join(folder, name)
    if (statSync(join(ROOT, file)).isDirectory()) return markdownOf(file)
    return file.endsWith('.md') ? [file] : []
  })
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}
