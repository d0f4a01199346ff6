import { join } from 'node:path';
import { defineConfig, includeIgnoreFile } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig(includeIgnoreFile(join(import.meta.dirname, '.gitignore')), {
  files: ['**/*.ts'],
  extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
  languageOptions: {
    parserOptions: {
      project: [
        './tsconfig.json',
        './src/editor/tsconfig.json',
        './test/tsconfig.json',
        './test/unit/editor/tsconfig.json',
      ],
      tsconfigRootDir: import.meta.dirname,
    },
  },
  rules: {
    '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
    '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
    '@typescript-eslint/switch-exhaustiveness-check': 'error',
    // Loaded when it is needed, because loading it takes long.
    '@typescript-eslint/no-require-imports': ['error', { allow: ['^undici$', '/(connection|diagnostics)$'] }],
  },
});
