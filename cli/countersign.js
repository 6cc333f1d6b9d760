#!/usr/bin/env node
// JavaScript, because for a single file of TypeScript Node would load its compiler.
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

// Node runs the compiled code that it finds. Beside the source it is as well protected as the source, unlike in the
// shared folder for temporary files, which is the default.
enableCompileCache(join(import.meta.dirname, '../node_modules/.countersign'))
await import('./main.ts')
