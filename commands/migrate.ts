// `npm run migrate`: DATABASE_OWNER_URL may create roles and tables, DATABASE_URL is the service's login.

import { readDeploymentSettings } from '#src/config.ts'
import { migrate } from '#src/platform/db/migrate.ts'
import { migrateEngine } from '#src/platform/jobs/bull.ts'
import { prepare } from './deployment.ts'
import { reachPostgres, requirePostgresUrl } from './reach.ts'
import { sentenceOf } from './sentence.ts'
import { createWaits } from './waits.ts'

const HELP = `Brings the database up to date, and makes the service's login if it is missing.

  npm run migrate

DATABASE_OWNER_URL is a role that may create roles and tables, DATABASE_URL the login that the service gets. Without
both it is the embedded database of npm start.
`

// A closed pipe (`| head`) is no error.
process.stdout.on('error', () => process.exit(0))
process.exit(await main(process.argv.slice(2)))

async function main([word]: string[]): Promise<number> {
  if (word === '--help') {
    process.stdout.write(HELP)
    return 0
  }
  if (word !== undefined) {
    process.stderr.write(`npm run migrate takes no arguments, and "${word}" is one.\nTry: npm run migrate -- --help\n`)
    return 2
  }
  const say = (line: string) => void process.stdout.write(`${line}\n`)
  const warn = (line: string) => void process.stderr.write(`  ! ${line}\n`)
  const { databaseUrl, ownerUrl, isProduction } = readDeploymentSettings()
  try {
    if (databaseUrl === undefined && (isProduction || ownerUrl !== undefined)) {
      throw new Error('Set DATABASE_URL, the login that the service gets, beside DATABASE_OWNER_URL.')
    }
    if (databaseUrl === undefined) {
      const prepared = await prepare({ say, onWarning: warn })
      await prepared.release()
    } else if (ownerUrl === undefined) {
      throw new Error('Set DATABASE_OWNER_URL to a role that may create roles and tables, beside DATABASE_URL.')
    } else {
      requirePostgresUrl('DATABASE_URL', databaseUrl)
      const waits = createWaits({ say: warn })
      await reachPostgres('DATABASE_OWNER_URL', ownerUrl, { waits })
      const { applied, newer } = await waits.until('the migration of the database', 'ended', () =>
        migrate({ ownerUrl, loginUrl: databaseUrl, migrateEngine, onWait: say }),
      )
      for (const file of applied) say(`applied ${file}`)
      if (newer.length > 0) say(`The database is newer than this code (it has ${newer.join(', ')}): nothing to do.`)
      const hint = ': this login is older than today, and its password another one.'
      await reachPostgres('DATABASE_URL', databaseUrl, { hint, waits })
    }
    say('The database is up to date.')
    return 0
  } catch (error) {
    process.stderr.write(`${sentenceOf(error)}\n`)
    return 1
  }
}
