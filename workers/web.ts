import { runProcess } from '#src/process.ts'
import { startWeb } from '#src/start-web.ts'

await runProcess('web', startWeb, { processes: ['web'] })
