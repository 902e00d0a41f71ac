// A Kotlin compiler of the Java package registry, kept outside of the checkout.

import { execFile } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const VERSION = '2.4.21'
const FETCH_MS = 240_000
// Java reads files and prints by the locale, which may be one without Unicode.
const UNICODE = { env: { ...process.env, LC_ALL: 'C.UTF-8' } }
const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>compiler</groupId><artifactId>compiler</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>org.jetbrains.kotlin</groupId><artifactId>kotlin-compiler-embeddable</artifactId><version>${VERSION}</version>
  </dependency></dependencies>
</project>`

export interface Kotlin {
  /** Compiles files into a folder of classes. Rejects with what the compiler says. */
  compile(files: readonly string[], folder: string): Promise<void>
  /** What the class prints. */
  start(folder: string, name: string, words: readonly string[]): Promise<string>
}

/** undefined without Java, or where the compiler can't be fetched. */
export async function findKotlin(): Promise<Kotlin | undefined> {
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'countersign', `kotlin-${VERSION}`)
  try {
    await run('java', ['-version'])
    if (!existsSync(folder)) await fetchCompiler(folder)
  } catch {
    return undefined
  }
  const jars = globSync(join(folder, '*.jar'))
  const library = jars.filter((jar) => jar.includes('kotlin-stdlib'))
  const compiler = [
    '-cp',
    jars.join(delimiter),
    'org.jetbrains.kotlin.cli.jvm.K2JVMCompiler',
    '-no-stdlib',
    '-no-reflect',
  ]
  return {
    async compile(files, classes) {
      await run('java', [...compiler, '-Werror', '-cp', library.join(delimiter), '-d', classes, ...files], UNICODE)
    },
    async start(classes, name, words) {
      const { stdout } = await run('java', ['-cp', [classes, ...library].join(delimiter), name, ...words], UNICODE)
      return stdout
    },
  }
}

async function fetchCompiler(folder: string): Promise<void> {
  await mkdir(join(folder, '..'), { recursive: true })
  // It takes its name when it is whole, so that another run never uses a half of it.
  const made = await mkdtemp(`${folder}-`)
  try {
    await writeFile(join(made, 'pom.xml'), POM)
    const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${made}`]
    await run('mvn', ['-q', '-B', ...goal], { cwd: made, timeout: FETCH_MS })
    await rename(made, folder)
  } catch (error) {
    // Another run was faster.
    if (!existsSync(folder)) throw error
  } finally {
    await rm(made, { recursive: true, force: true })
  }
}
