// The deployment files agree with the Procfile and the configuration.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { describeConfig, readConfig } from '#src/config.ts'
import { DEFAULT_SPOOL_BYTES } from '#src/platform/store/local-files.ts'
import { readProcfile } from '../../commands/supervisor.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const names = readProcfile().map(({ name }) => name)
const compose = read('compose.yaml')
const manifests = readdirSync(resolve(ROOT, 'deploy/kubernetes'), { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.yaml'),
)
const kubernetes = manifests.map((file) => read(`deploy/kubernetes/${file}`)).join('\n---\n')
const dockerfile = read('Dockerfile')

// Read by the commands only, see docs/operate/configuration.md; by Node; and the variables of the Postgres image.
const OTHERS = [
  'DATABASE_OWNER_URL',
  'DATA_DIR',
  'NODE_COMPILE_CACHE',
  'POSTGRES_USER',
  'POSTGRES_PASSWORD',
  'POSTGRES_DB',
]
// Every file that calls addresses outside of the deployment, and the process that runs it.
const CALLING_OUT: Record<string, string> = {
  'src/account/sso/ask-provider.ts': 'web',
  'src/account/sso/provider.ts': 'web',
  'src/account/webhooks/deliver.ts': 'deliver',
  'src/account/webhooks/metrics.ts': 'deliver',
  'src/attest/hardware/lists.ts': 'clock',
  'src/attest/screen/detectors/detector.ts': 'screen',
  'src/attest/screen/detectors/open.ts': 'screen',
  'src/authorize/exclusions/operator.ts': 'clock',
  'src/authorize/webhooks/policy-webhooks.ts': 'web',
  'src/trace/models/remote.ts': 'web',
}
// What follows from the other services of the file.
const SET_BY_COMPOSE = [
  'MODE',
  'DATABASE_URL',
  'REDIS_URL',
  'HOST',
  'PORT',
  'INTERNAL_HOST',
  'INTERNAL_HOSTS',
  'INTERNAL_PORT',
]
const known = new Set([...describeConfig().map(({ key }) => key), ...OTHERS])

describe('a deployment', () => {
  it('runs every process of the Procfile: in compose and in Kubernetes', () => {
    const composed = [...compose.matchAll(/^ {4}command: \[node, workers\/([a-z]+)\.ts\]$/gm)].map(([, name]) => name)
    expect(composed.sort()).toEqual([...names].sort())
    const deployed = documentsOf('Deployment')
    expect(deployed.map(nameOf).sort()).toEqual([...names].sort())
    for (const text of deployed) expect(text).toContain(`command: [node, workers/${nameOf(text)}.ts]`)
    for (const text of [compose, kubernetes]) expect(text).toContain('[node, commands/migrate.ts]')
    expect(dockerfile).toContain('CMD ["node", "workers/web.ts"]')
  })

  it('names each image of others by its digest', () => {
    const images = [
      ...`${compose}\n${kubernetes}`.matchAll(/^ +image: (.*)$/gm),
      ...dockerfile.matchAll(/^FROM (\S+)/gm),
    ]
    const others = images.map(([, image]) => image).filter((image) => image !== 'countersign')
    expect(others.length).toBeGreaterThanOrEqual(5)
    for (const image of others) expect(image).toMatch(/^[a-z/]+:[\w.-]+@sha256:[0-9a-f]{64}$/)
  })

  it('scrapes every process, and accepts its name as the host of the internal port', () => {
    const scraped =
      /names:\s+\[([^\]]*?),?\s*\]\n +type: A\n +port: 9090/.exec(read('deploy/prometheus/prometheus.yaml'))?.[1] ?? ''
    expect(scraped.trim().split(/,\s*/).sort()).toEqual([...names].sort())
    const hosts = /INTERNAL_HOSTS: (.*)/.exec(compose)?.[1] ?? ''
    expect(hosts.split(',').sort()).toEqual([...names].sort())
  })

  it('sets no variable that the service does not read', () => {
    const inCompose = [...compose.matchAll(/^ {4,6}([A-Z][A-Z0-9_]+):/gm)].map(([, key]) => key)
    const inKubernetes = [...kubernetes.matchAll(/^ {2}([A-Z][A-Z0-9_]+):/gm)].map(([, key]) => key)
    const inImage = [...dockerfile.matchAll(/\b([A-Z][A-Z0-9_]+)=/g)].map(([, key]) => key)
    for (const keys of [inCompose, inKubernetes, inImage]) {
      expect(keys.length).toBeGreaterThan(3)
      expect(keys.filter((key = '') => !known.has(key))).toEqual([])
    }
  })

  it('passes every setting of an operator through compose', () => {
    const passed = [...compose.matchAll(/^ +([A-Z][A-Z0-9_]+): \$\{\1:[-?]/gm)].map(([, key]) => key)
    const keys = describeConfig().flatMap(({ key, description }) => (/Development only/.test(description) ? [] : [key]))
    expect(keys.length).toBeGreaterThan(50)
    expect(keys.filter((key) => !passed.includes(key)).sort()).toEqual([...SET_BY_COMPOSE].sort())
  })

  it('has the compiled code in its image, made by the user that runs it', () => {
    const [, cache = ''] = /^ENV NODE_COMPILE_CACHE=(\S+)$/m.exec(dockerfile) ?? []
    const [made = '', command = ''] = /USER node\n(?:#.*\n)*RUN (\[.*\])\n/.exec(dockerfile) ?? []
    expect(dockerfile.indexOf(`ENV NODE_COMPILE_CACHE=${cache}`)).toBeLessThan(dockerfile.indexOf(made))
    const [, ...args] = JSON.parse(command.replaceAll('/app/', `${ROOT}/`))
    const folder = mkdtempSync(join(tmpdir(), 'compiled-'))
    const run = (NODE_COMPILE_CACHE: string) =>
      spawnSync(process.execPath, args, { env: { MODE: 'production', NODE_COMPILE_CACHE }, encoding: 'utf8' })
    expect(run(folder)).toMatchObject({ status: 0, stderr: '' })
    const compiled = readdirSync(folder, { recursive: true }).length
    expect(compiled).toBeGreaterThan(readdirSync(resolve(ROOT, 'src'), { recursive: true }).length / 2)
    rmSync(folder, { recursive: true })
    // A folder that can't be written.
    expect(run('/dev/null/compiled')).toMatchObject({ status: 0, stderr: '' })
  })

  it('sets the variables that production requires', () => {
    const demanded = ['DATABASE_URL', 'REDIS_URL', 'MASTER_KEY', 'BLOB_STORE', 'BASE_URL', 'SMTP_URL']
    const said = (() => {
      try {
        readConfig({ MODE: 'production' })
        return ''
      } catch (error) {
        return String(error)
      }
    })()
    for (const key of demanded) {
      expect(said).toContain(key)
      expect(compose).toMatch(new RegExp(`^ {4}${key}: `, 'm'))
      expect(kubernetes).toMatch(new RegExp(`^ {2}${key}: `, 'm'))
    }
    for (const text of [compose, kubernetes]) expect(text).toMatch(/^ +MODE: production$/m)
    expect(dockerfile).toContain('ENV MODE=production')
  })

  it('gives a process the longest time of its drain, and two seconds more', () => {
    const seconds = Number(/SHUTDOWN_SECONDS: ["'](\d+)["']/.exec(kubernetes)?.[1])
    const notice = Number(/SHUTDOWN_NOTICE_SECONDS: ["'](\d+)["']/.exec(kubernetes)?.[1])
    expect(notice).toBeLessThan(seconds)
    const graces = [...kubernetes.matchAll(/terminationGracePeriodSeconds: (\d+)/g)].map(([, value]) => Number(value))
    expect(graces).toHaveLength(names.length)
    expect(Math.min(...graces)).toBeGreaterThan(seconds + 2)
    expect(Number(/stop_grace_period: (\d+)s/.exec(compose)?.[1])).toBeGreaterThan(seconds + 2)
  })

  // Linux ignores a SIGKILL that the first process of a container sends itself.
  it('puts an init before each process, so that one whose shutdown hangs can kill itself', () => {
    const [, shared = ''] = /^x-service: &service\n((?: .*\n)+)/m.exec(compose) ?? []
    expect(shared).toMatch(/^ {2}init: true$/m)
    for (const text of documentsOf('Deployment')) expect(text).toMatch(/^ {6}shareProcessNamespace: true$/m)
  })

  it('runs as an unprivileged user, and does not expose its internal port', () => {
    expect(dockerfile).toMatch(/^USER node$/m)
    for (const text of documentsOf('Deployment')) {
      expect(text).toContain('runAsNonRoot: true')
      expect(text).toContain('readOnlyRootFilesystem: true')
      expect(text).toContain('path: /health/ready, port: internal')
    }
    const [service = ''] = documentsOf('Service')
    expect(service).not.toContain('9090')
    expect(service).not.toContain('targetPort: internal')
    expect(compose).not.toMatch(/^ +- .*\b9090:9090/m)
  })

  it('lists its files, and copies only existing ones', () => {
    const lists = manifests.filter((file) => file.endsWith('kustomization.yaml'))
    const listed = lists.flatMap((list) => {
      const folder = dirname(list) === '.' ? '' : `${dirname(list)}/`
      return [...read(`deploy/kubernetes/${list}`).matchAll(/^ {2}- ([a-z]+\.yaml)$/gm)].map(
        ([, file]) => `${folder}${file}`,
      )
    })
    expect([...listed, ...lists, 'scaling.yaml'].sort()).toEqual(manifests.sort())
    // A Job can't be changed, so the processes are applied without it.
    expect(documentsOf('Job').map(nameOf)).toEqual(['migrate'])
    expect(read('deploy/kubernetes/kustomization.yaml')).not.toMatch(/^ {2}- .*(migrate|job)/m)
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, sources = '']) =>
      sources.split(' '),
    )
    expect(copied.length).toBeGreaterThan(8)
    expect(copied.filter((path) => !existsSync(resolve(ROOT, path)))).toEqual([])
    const ignore = read('.dockerignore').split('\n')
    for (const path of copied) expect(ignore).toContain(`!${path}`)
    // Everything that the processes and commands import must be in the image.
    for (const folder of ['src', 'workers', 'commands', 'migrations', 'capture-kit', 'clients/typescript']) {
      expect(copied).toContain(folder)
    }
  })

  it('lets the processes that call out reach the internet, and no other', () => {
    const calling = readdirSync(resolve(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
      .map((file) => `src/${file}`)
      .filter((file) => file.endsWith('.ts') && !file.startsWith('src/platform/'))
      .filter((file) => /\boutbound\.send\(|\bOutbound, 'send'/.test(read(file)))
    expect(calling.toSorted(), 'CALLING_OUT and deploy/kubernetes/network.yaml know every file that calls out').toEqual(
      Object.keys(CALLING_OUT),
    )
    const file = 'deploy/kubernetes/network.yaml'
    const policy = documentsOf('NetworkPolicy').find((text) => nameOf(text) === 'internet') ?? ''
    const allowed = /key: app\.kubernetes\.io\/component, operator: In, values: \[([^\]]*)\]/.exec(policy)?.[1] ?? ''
    expect({ file, allowed: allowed.split(', ').toSorted() }).toEqual({
      file,
      allowed: [...new Set(Object.values(CALLING_OUT))].toSorted(),
    })
  })

  it('gives processes that copy media of S3 to /tmp the disk that they may use, and a fifth more', () => {
    const GIB = 1024 ** 3
    // Of `web`, batches take 2 GiB.
    for (const [name, others] of Object.entries({ web: 2, attest: 0, screen: 0, compare: 0, reevaluate: 0 })) {
      const limit = Number(/sizeLimit: (\d+)Gi/.exec(read(`deploy/kubernetes/${name}.yaml`))?.[1])
      expect([name, limit >= (1.2 * DEFAULT_SPOOL_BYTES) / GIB + others]).toEqual([name, true])
    }
  })

  it('scales workers by age, on the metric that dispatch exports', () => {
    const scaled = documentsOf('ScaledObject')
    expect(scaled.map(nameOf).sort()).toEqual(['attest', 'compare', 'deliver', 'reevaluate'])
    for (const text of scaled) {
      const metric = `countersign_queue_oldest_due_seconds{queue="${nameOf(text)}"}`
      // Of `deliver` a lane has a cap, and is below it for a moment after each job.
      expect(text).toContain(nameOf(text) === 'deliver' ? `max(min_over_time(${metric}[1m]))` : `max(${metric})`)
    }
  })
})

function documentsOf(kind: string): string[] {
  return kubernetes.split(/^---$/m).filter((text) => new RegExp(`^kind: ${kind}$`, 'm').test(text))
}

function nameOf(text: string): string {
  return /^ {2}name: (\S+)$/m.exec(text)?.[1] ?? ''
}

function read(file: string): string {
  return readFileSync(resolve(ROOT, file), 'utf8')
}
