// Gets a checkout ready and runs one of its commands on the Node that the project ships. Plain old JavaScript, so that a
// Node too old for the project can still say so in a sentence.
'use strict'

var childProcess = require('child_process')
var crypto = require('crypto')
var fs = require('fs')
var path = require('path')

var MIN_MAJOR = 20
var INSTALL_LOCK_SECONDS = 600
var root = path.join(__dirname, '..')
var modules = path.join(root, 'node_modules')
var marker = path.join(modules, '.countersign-installed')
var runtime = path.join(modules, 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node')

function refuse(sentence) {
  process.stderr.write(sentence + '\n')
  process.exit(1)
}

function isInstalled() {
  try {
    return fs.readFileSync(marker, 'utf8') === wanted() && fs.existsSync(runtime)
  } catch (error) {
    return false
  }
}

function wanted() {
  return crypto.createHash('sha256').update(fs.readFileSync(path.join(root, 'package-lock.json'))).digest('hex')
}

function install() {
  process.stderr.write('Installing dependencies (once)...\n')
  var npm = process.env.npm_execpath
  var command = npm ? process.execPath : process.platform === 'win32' ? 'npm.cmd' : 'npm'
  // Not `npm ci`: that one refuses a lock file without the optional binaries of every other platform, and a registry mirror
  // may not carry them all. This installs what the lock file pins, and never writes to it.
  var args = (npm ? [npm] : []).concat(['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'])
  var result = childProcess.spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (result.error || result.status !== 0) {
    refuse('`npm install` failed: its message is above. Countersign needs npm and a reachable package registry for its first start.')
  }
  if (!fs.existsSync(runtime)) {
    refuse('`npm install` did not bring Node 24 (node_modules/node/bin/node): allow its install script (no --ignore-scripts).')
  }
  fs.writeFileSync(marker, wanted())
}

// Two commands may be started at once in a fresh clone: one installs, the other waits for it.
function installOnce() {
  var lock = path.join(root, '.installing')
  var deadline = Date.now() + INSTALL_LOCK_SECONDS * 1000
  while (Date.now() < deadline) {
    try {
      fs.writeFileSync(lock, String(process.pid), { flag: 'wx' })
      try {
        if (!isInstalled()) install()
      } finally {
        fs.unlinkSync(lock)
      }
      return
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    if (isInstalled()) return
    if (isAbandoned(lock)) fs.unlinkSync(lock)
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
  }
  refuse('Another process has been installing for ' + INSTALL_LOCK_SECONDS + ' s: end it, or delete .installing.')
}

function isAbandoned(lock) {
  try {
    var pid = Number(fs.readFileSync(lock, 'utf8'))
    if (pid > 0) process.kill(pid, 0)
    return false
  } catch (error) {
    return error.code === 'ESRCH'
  }
}

function run(args) {
  // The channel tells the command when this process is gone, however it ended.
  // npm runs scripts from the root and says where its user stands: relative paths are theirs.
  var cwd = process.env.INIT_CWD || process.cwd()
  var child = childProcess.spawn(runtime, args, { cwd: cwd, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
  var parent = process.ppid
  var watch = setInterval(function () {
    if (process.ppid !== parent) child.kill('SIGTERM')
  }, 1000)
  // A terminal sends Ctrl-C to the whole group; a supervisor sends its signal to this process alone.
  ;['SIGINT', 'SIGTERM', 'SIGHUP'].forEach(function (signal) {
    process.on(signal, function () {
      child.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal)
    })
  })
  child.on('error', function (error) {
    refuse('Node 24 could not be started: ' + error.message)
  })
  child.on('exit', function (code, signal) {
    clearInterval(watch)
    process.exit(signal ? 1 : code)
  })
}

var major = Number(process.versions.node.split('.')[0])
if (major < MIN_MAJOR) {
  refuse('Countersign needs Node ' + MIN_MAJOR + ' or newer to set itself up; this is Node ' + process.versions.node + '.')
}
var args = process.argv.slice(2)
if (args.length === 0) refuse('Usage: node bootstrap/run.cjs <command file> [arguments]')
if (!isInstalled()) installOnce()
run([path.join(root, args[0])].concat(args.slice(1)))
