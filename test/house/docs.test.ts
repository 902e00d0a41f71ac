import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { MANDATE_CONSTRAINTS } from '#src/authorize/mandates/judge.ts'
import { EVENT_DATA } from '#src/catalogue/events.ts'
import { isQueueName, PROCESS_NAMES, QUEUE_NAMES, QUEUES, retryDelayMs } from '#src/catalogue/queues.ts'
import { createGuides, GUIDES } from '#src/docs/guides.ts'
import { PURPOSE } from '#src/docs/service-notes.ts'
import { FAILURES } from '#src/failure.ts'
import { call, startApp } from '../support/http.ts'
import { describeMetrics } from '../support/metrics.ts'

const ROOT = resolve(import.meta.dirname, '../..')
// The folders of docs/ are groups of guides; decisions have a page of their own.
const FOLDERS = foldersOf('docs').filter((folder) => folder !== 'decisions')
// Addresses that guides had before docs/ had folders.
const FORMER =
  'account agents analytics api approvals attribution authorize authzen backends c2pa canaries capture-kit cases diffs duplicates ' +
  'evidence faults hardware hostile integrate keys killswitch ledger login mandates operate overview passkeys plans policy ' +
  'policy-webhooks reasons reports risk-policy schedules screening shares submit team tokens trace video webhook-delivery webhooks'
// Folders in which files name guides. A landed migration keeps its comments.
const NAMING = [
  'src',
  'commands',
  'workers',
  'deploy',
  'capture-kit',
  'clients',
  'faults',
  'hostile',
  'bench',
  'test',
  'tools',
  'vectors',
]
// `docs/attest/c2pa.md#whom-to-trust`, and the address of a guide below the service's.
const MENTION =
  /(?<![\w/-])docs\/([a-z0-9-]+(?:\/[a-z0-9-]+)*)\.md(#[a-z0-9-]+)?|(?:\{base_url\}|\$\{baseUrl\})\/docs\/([a-z-]+\/[a-z0-9-]+)(#[a-z0-9-]+)?/g
const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'capture-kit/README.md', ...markdownOf('docs')]

// Connections for keys, readiness and leases, which each process has beside those of DATABASE_POOL.
const SYSTEM_CONNECTIONS = 2

describe('the documents', () => {
  it('show every metric of ours, and no other', () => {
    const ours = describeMetrics().map(({ name }) => name)
    const shown = rowsOf(read('docs/operate/monitor.md'), /^\| `(countersign_[a-z_]+)` +\|/gm).map(([name]) => name)
    expect(shown.sort()).toEqual(ours.sort())
  })

  it('name every process where operators start, upgrade and count them', () => {
    const [, processes = ''] = /\n## Processes\n([\s\S]+?)\n## /.exec(read('docs/operate/deploy.md')) ?? []
    const rows = rowsOf(processes, /^\| `([a-z]+)` +\|/gm).map(([name]) => name)
    const [upgrade = ''] = /^2\. `dispatch` first.*$/m.exec(read('docs/operate/upgrade.md')) ?? []
    const [connections = ''] =
      /With the limits of deploy\/kubernetes: [^.]*\./.exec(read('docs/operate/scale.md')) ?? []
    expect({
      'deploy.md': PROCESS_NAMES.filter((name) => !rows.includes(name)),
      'upgrade.md': PROCESS_NAMES.filter((name) => name !== 'web' && !upgrade.includes(`\`${name}\``)),
      'scale.md': PROCESS_NAMES.filter((name) => !new RegExp(`\\d ${name}\\b`).test(connections)),
    }).toEqual({ 'deploy.md': [], 'upgrade.md': [], 'scale.md': [] })
  })

  it('add up the connections of the Kubernetes deployment', () => {
    const [, perProcess = '', terms = '', others = '', sum = '', most = ''] =
      /With the limits of deploy\/kubernetes: (\d+) \* \(([^)]*)\) \+ (\d+) = (\d+)\. A `max_connections` of (\d+)/.exec(
        read('docs/operate/scale.md'),
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
    const shown = rowsOf(read('docs/operate/incidents.md'), /^\| `([a-z]+)` +\| (\d+) +\| (.*?) +\|/gm)
    expect(shown.map(([queue, attempts]) => [queue, Number(attempts)])).toEqual(
      QUEUE_NAMES.map((queue) => [queue, QUEUES[queue].maxAttempts]),
    )
    for (const [name = '', attempts, time = ''] of shown) {
      const minutes = /^(\d+) minutes$/.exec(time)?.[1]
      if (minutes === undefined || !isQueueName(name)) continue
      const pauses = Array.from({ length: Number(attempts) - 1 }, (_, at) => retryDelayMs(name, at + 1, () => 0))
      expect([name, Number(minutes)]).toEqual([name, Math.floor(pauses.reduce((sum, ms) => sum + ms, 0) / 60_000)])
    }
    const operate = markdownOf('docs/operate').map(read).join('\n')
    expect(operate).not.toMatch(/dead after \d|\d+ attempts/)
  })

  it('name every event that is sent', () => {
    const named = /^Sent today: (.*?)\n\n/ms.exec(read('docs/reference/api.md'))?.[1] ?? ''
    expect(Object.keys(EVENT_DATA).filter((type) => !named.includes(`\`${type}\``))).toEqual([])
  })

  it('name everything that the detail of a mandate can name', () => {
    const [, section = ''] = /\n## What is compared\n([\s\S]+?)\n## /.exec(read('docs/authorize/mandates.md')) ?? []
    const named = rowsOf(section, /^\| `([a-z_]+)` +\|/gm).map(([name]) => name)
    expect(MANDATE_CONSTRAINTS.filter((name) => !named.includes(name))).toEqual([])
  })

  it('show every error code with its status', () => {
    const shown = new Map<string, number>()
    for (const [codes = '', status] of rowsOf(read('docs/reference/api.md'), /^\| (`.*?) +\| (\d{3}) +\|$/gm)) {
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

  it('stand each in one folder, which is its group', () => {
    const guides = createGuides({ baseUrl: 'http://localhost:8080' })
    const listed = guides.all().map(({ name }) => name)
    const written = FOLDERS.flatMap((folder) => markdownOf(`docs/${folder}`)).map((file) => file.slice(5, -3))
    expect(listed.toSorted()).toEqual([...written, 'attest/capture-kit'].sort())
    expect(readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'))).toEqual([])
    expect(guides.groups().map(({ title }) => title.toLowerCase())).toEqual(expect.arrayContaining(FOLDERS))
    for (const { title, guides: of } of guides.groups()) {
      expect(of.filter(({ name }) => !name.startsWith(`${title.toLowerCase()}/`))).toEqual([])
    }
  })

  it('stand in the order of the list, which names no other', () => {
    const guides = createGuides({ baseUrl: 'http://localhost:8080' })
    const named = Object.entries(GUIDES).flatMap(([folder, names]) => names.map((name) => `${folder}/${name}`))
    expect(guides.all().map(({ name }) => name)).toEqual(named)
  })

  it('are found at the addresses that they had before they had folders, with their Markdown', async () => {
    const app = await startApp([])
    const led: Record<string, unknown> = {}
    for (const name of FORMER.split(' ')) {
      for (const suffix of ['', '.md']) {
        const { status, headers } = await call(app, `/docs/${name}${suffix}`)
        const { pathname } = new URL(String(headers.location), `http://service/docs/${name}`)
        led[`${name}${suffix}`] = [status, pathname, (await call(app, pathname)).status]
      }
    }
    await app.close()
    const wanted = Object.fromEntries(
      FORMER.split(' ').flatMap((name) =>
        ['', '.md'].map((suffix) => [
          `${name}${suffix}`,
          // The guide for operators has become several, of which this is the first.
          [301, expect.stringMatching(`^/docs/[a-z]+/${name === 'operate' ? 'deploy' : name}${suffix}$`), 200],
        ]),
      ),
    )
    expect(led).toEqual(wanted)
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

  it('exist where code, commands, deployment files and prose name them by path or address', () => {
    const files = ['README.md', 'CONTRIBUTING.md', 'Dockerfile', 'compose.yaml', ...NAMING.flatMap(filesOf)]
    const broken = files.flatMap((file) =>
      [...read(file).matchAll(MENTION)]
        .map(([mention, path, anchor, name, section]) => ({
          mention,
          page: `docs/${path ?? name}.md`,
          section: anchor ?? section,
        }))
        .filter(({ page, section }) => !leads('README.md', page + (section ?? '')))
        .map(({ mention }) => `${file}: ${mention}`),
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

function rowsOf(text: string, pattern: RegExp): string[][] {
  return [...text.matchAll(pattern)].map(([, ...groups]) => groups)
}

function markdownOf(folder: string): string[] {
  return readdirSync(join(ROOT, folder)).flatMap((name) => {
    const file = join(folder, name)
    if (statSync(join(ROOT, file)).isDirectory()) return markdownOf(file)
    return file.endsWith('.md') ? [file] : []
  })
}

function foldersOf(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  )
}

function filesOf(folder: string): string[] {
  return globSync(`${folder}/**/*.{ts,js,mjs,py,md,yaml,json}`, { cwd: ROOT }).filter(
    (file) => !file.endsWith('structure.json'),
  )
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}
