import { runAll } from '#src/start-background.ts'

await runAll()
