/* The host's side of a file: what it has to parse, because clang reads host code in device compilations, too. */
#pragma once
#include <kassay/host_functions.h>
#include <kassay/textures.h>
