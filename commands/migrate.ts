// `npm run migrate`: DATABASE_OWNER_URL may create roles and tables, DATABASE_URL is the login that the service gets.

import { readDeploymentSettings } from '#src/config.ts'
import { migrate } from '#src/platform/db/migrate.ts'
import { migrateEngine } from '#src/platform/jobs/bull.ts'
import { prepare } from './deployment.ts'

const { databaseUrl, ownerUrl } = readDeploymentSettings()
try {
  if (databaseUrl === undefined) {
    const prepared = await prepare({ say: (line) => process.stdout.write(`${line}\n`) })
    await prepared.release()
  } else if (ownerUrl === undefined) {
    throw new Error('Set DATABASE_OWNER_URL to a role that may create roles and tables, beside DATABASE_URL.')
  } else {
    const { applied } = await migrate({ ownerUrl, loginUrl: databaseUrl, migrateEngine })
    for (const file of applied) process.stdout.write(`applied ${file}\n`)
  }
  process.stdout.write('The database is up to date.\n')
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
