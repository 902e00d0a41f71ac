import { runBackground } from '#src/start-background.ts'

await runBackground('exclusions')
