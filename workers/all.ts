import { runAll } from '#src/processes/background.ts'

await runAll()
