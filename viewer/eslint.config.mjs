// What the linter checks: the page's sources with their types, and the tests and the build script as plain JavaScript.
import { fileURLToPath } from 'node:url';
import eslint from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

const here = fileURLToPath(new URL('.', import.meta.url)); // node 18 has no import.meta.dirname

// What Node provides to the scripts, and the browser to the functions that the tests run in the page.
const names = `
    Buffer console fetch getComputedStyle document location performance process setTimeout clearTimeout URL window
    URLSearchParams PerformanceObserver requestAnimationFrame history`;
const globals = Object.fromEntries(
    names
        .trim()
        .split(/\s+/)
        .map((name) => [name, 'readonly']),
);
const unused = { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrors: 'none' };

export default defineConfig(
    globalIgnores(['dist/', 'test/out/']),
    eslint.configs.recommended,
    { rules: { eqeqeq: 'error', 'prefer-const': 'error', 'max-lines': ['error', 600] } },
    { files: ['**/*.mjs'], languageOptions: { globals }, rules: { 'no-unused-vars': ['error', unused] } },
    {
        files: ['src/**/*.{ts,tsx}'],
        extends: [tseslint.configs.recommendedTypeChecked],
        languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: here } },
        rules: {
            '@typescript-eslint/no-unnecessary-condition': 'error',
            '@typescript-eslint/no-unused-vars': ['error', unused],
            '@typescript-eslint/switch-exhaustiveness-check': 'error',
        },
    },
);
