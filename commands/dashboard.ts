// `npm run dashboard`: Vite's server for people who work on the dashboard, against a service that runs; `-- build` builds it.

import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildDashboard, canBuild } from './dashboard/build.ts'
import { sentenceOf } from './sentence.ts'

const FOLDER = fileURLToPath(new URL('../dashboard/', import.meta.url))
const [option, value, ...rest] = process.argv.slice(2)

process.exit(await main())

async function main(): Promise<number> {
  if (!canBuild()) {
    process.stderr.write('Vite is not installed: run `npm ci` without --omit=dev.\n')
    return 1
  }
  if (option === 'build' && value === undefined) {
    try {
      const outcome = await buildDashboard()
      process.stdout.write(outcome === 'built' ? 'Built dashboard/dist.\n' : 'dashboard/dist is current.\n')
      return 0
    } catch (error) {
      process.stderr.write(`${sentenceOf(error)}\n`)
      return 1
    }
  }
  if (rest.length > 0 || (option !== undefined && (option !== '--url' || value === undefined))) {
    process.stderr.write('npm run dashboard takes `build`, or `--url` with the address of a service that runs.\n')
    return 2
  }
  const program = join(createRequire(import.meta.url).resolve('vite/package.json'), '../bin/vite.js')
  const child = spawn(process.execPath, [program], {
    cwd: FOLDER,
    stdio: 'inherit',
    env: { ...process.env, DASHBOARD_SERVICE: value ?? 'http://localhost:8080' },
  })
  return new Promise((done) => child.on('close', (code) => done(code ?? 1)))
}
